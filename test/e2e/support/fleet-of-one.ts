// The same tests on a fleet of one machine: `DROVER_E2E_POSTGRES` names a server (as an owner of
// databases), and every project gets a separate database, and a bare repository as its remote.

import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';

const create = `
import pg from 'pg';
const [url, name] = process.argv.slice(1);
const client = new pg.Client({ connectionString: url });
await client.connect();
await client.query('create database "' + name + '" encoding UTF8 template template0');
await client.end();
`;

/** The environment of the project's commands; empty if the tests run on SQLite. */
export function fleetOfOne(folder: string): Readonly<Record<string, string>> {
  const server = process.env['DROVER_E2E_POSTGRES'];
  if (server === undefined) return {};
  const name = basename(folder).toLowerCase();
  execFileSync(process.execPath, ['--input-type=module', '-e', create, server, name], {
    cwd: join(import.meta.dirname, '..', '..', '..'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { DBOS_SYSTEM_DATABASE_URL: url.href };
}

/** After the first commit. */
export function shareRepository(
  folder: string,
  root: string,
  env: Readonly<Record<string, string>>,
): void {
  if (env['DBOS_SYSTEM_DATABASE_URL'] === undefined) return;
  const remote = join(folder, 'remote.git');
  for (const args of [
    ['init', '-q', '--bare', remote],
    ['remote', 'add', 'origin', remote],
    ['push', '-q', 'origin', 'HEAD'],
  ]) {
    execFileSync('git', args, { cwd: root, env: { ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}
