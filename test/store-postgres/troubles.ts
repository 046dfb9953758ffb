// A test's expectation of an error: the error's name, and words of its message.

import { PostgresRefusal } from '../../server/store/postgres/trouble.ts';

export function isTrouble(name: string, ...words: readonly string[]): (error: unknown) => boolean {
  return (error) => {
    if (!(error instanceof PostgresRefusal)) return false;
    const expected = [name, ...words];
    const said = `${error.trouble}: ${error.message}`;
    const missing = expected.filter((word) => !said.includes(word));
    if (missing.length > 0) throw new Error(`"${said}" lacks ${missing.join(', ')}`);
    return true;
  };
}
