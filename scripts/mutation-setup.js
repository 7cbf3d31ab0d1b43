/** Of a mutant, fast-check's first counterexample is enough. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
