// An encrypted connection is made if the URL asks for it and the certificate is right; otherwise it
// is refused with a remedy.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { removeFolder } from '../remove-folder.ts';
import { run, testDatabases, withStore } from './databases.ts';
import { isTrouble } from './troubles.ts';

interface Certificates {
  readonly folder: string;
  readonly authority: string;
}

/** Null without openssl. */
function makeCertificates(): Certificates | null {
  const folder = mkdtempSync(join(tmpdir(), 'drover-tls-'));
  const openssl = (words: string): unknown =>
    execFileSync('openssl', words.split(' '), {
      cwd: folder,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    });
  try {
    const key = '-newkey rsa:2048 -nodes';
    openssl(`req -x509 ${key} -days 2 -subj /CN=authority -keyout ca.key -out ca.pem`);
    openssl(`req ${key} -subj /CN=server -keyout key -out request`);
    writeFileSync(join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
    openssl(
      'x509 -req -in request -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out certificate',
    );
  } catch {
    removeFolder(folder);
    return null;
  }
  return { folder, authority: join(folder, 'ca.pem') };
}

/** From now on it accepts no unencrypted connection. */
async function demandTls(server: PostgresServer, { folder }: Certificates): Promise<void> {
  if (process.getuid?.() === 0)
    for (const path of [folder, join(folder, 'key'), join(folder, 'certificate')])
      chownSync(path, 65_534, 65_534);
  const admin = server.url('postgres');
  const { rows } = await run(admin, 'show hba_file');
  await run(
    admin,
    `alter system set ssl_cert_file = '${join(folder, 'certificate')}'`,
    `alter system set ssl_key_file = '${join(folder, 'key')}'`,
    'alter system set ssl = on',
    `copy (values ('hostssl all all 127.0.0.1/32 trust')) to '${String((rows[0] as { hba_file: string }).hba_file)}'`,
    'select pg_reload_conf()',
  );
}

suite('postgres: encryption', function () {
  this.timeout(60_000);

  test('encryption that the server does not offer is reported', async () => {
    const { createWithTables } = await testDatabases();
    const url = `${await createWithTables()}?sslmode=verify-full`;
    await assert.rejects(
      withStore(url, async () => undefined),
      isTrouble('tls', 'let the server offer TLS'),
    );
  });

  test('encryption that the server requires needs the right name and authority', async () => {
    const certificates = makeCertificates();
    if (certificates === null) return;
    const server = await startPostgres();
    try {
      const plain = await server.createDatabase('encrypted');
      await demandTls(server, certificates);
      const open = (url: string): Promise<boolean> =>
        withStore(url, async ({ store }) => {
          const { rows } = await sql<{ ssl: boolean }>`
            select ssl from pg_stat_ssl where pid = pg_backend_pid()`.execute(store.db);
          return rows[0]?.ssl ?? false;
        });
      const named = plain.replace('127.0.0.1', 'localhost');
      const trusted = `sslmode=verify-full&sslrootcert=${certificates.authority}`;
      assert.equal(await open(`${named}?${trusted}`), true);
      await assert.rejects(open(plain), isTrouble('tls', 'sslmode=verify-full'));
      await assert.rejects(open(`${named}?sslmode=verify-full`), isTrouble('tls', 'sslrootcert'));
      await assert.rejects(open(`${plain}?${trusted}`), isTrouble('tls', '127.0.0.1'));
    } finally {
      await server.close();
      removeFolder(certificates.folder);
    }
  });
});
