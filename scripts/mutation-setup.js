/** The first counterexample kills a mutant, so fast-check does not look for a smaller one. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
