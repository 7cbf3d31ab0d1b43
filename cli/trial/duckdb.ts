/** DuckDB, which is installed only where npm could: the part of its interface that trials use. */

import { InputError } from '../../abr/errors.ts';

/** Of `@duckdb/node-api`; its own types are not there wherever the package is not. */
interface Api {
  DuckDBInstance: {
    create(
      path: string,
      options: Record<string, string>,
    ): Promise<{ connect(): Promise<Connection>; closeSync(): void }>;
  };
}

interface Connection {
  runAndReadAll(sql: string): Promise<{ getRowObjectsJS(): Record<string, unknown>[] }>;
  closeSync(): void;
}

export interface Database {
  /** The rows of a statement. Numbers of 64 bits are `bigint`. */
  rows(sql: string): Promise<Record<string, unknown>[]>;
  close(): void;
}

/** Opens a new database in a file; what exceeds the memory goes beside it. */
export async function openDatabase(file: string, options: { threads: number; memoryMb: number }): Promise<Database> {
  const { DuckDBInstance } = await load();
  const instance = await DuckDBInstance.create(file, {
    threads: String(options.threads),
    memory_limit: `${options.memoryMb}MB`,
    preserve_insertion_order: 'false',
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  return {
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRowObjectsJS(),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function load(): Promise<Api> {
  // Not a literal, so that neither the compiler nor a bundler looks for it.
  const name = '@duckdb/node-api';
  try {
    return (await import(name)) as Api;
  } catch (error) {
    const expected = `the optional package ${name} (npm install ${name})`;
    throw new InputError('leo-abr trial', expected, error, `none: ${(error as Error).message}`);
  }
}
