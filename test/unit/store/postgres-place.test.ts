// The address of a fleet's database, and which connections to it are refused.

import assert from 'node:assert/strict';
import { parseDatabaseUrl } from '../../../server/store/postgres/database-url.ts';

suite("addresses of a fleet's database", () => {
  for (const url of [
    'postgresql://a:b@127.0.0.1:5432/d',
    'postgresql://a@localhost/d',
    'postgresql://a@[::1]/d',
    'postgresql://a@/d?host=/run/postgresql',
    'postgresql://a:b@db.corp/d?sslmode=verify-full',
    'postgresql://a:b@db.corp/d?sslmode=disable',
  ]) {
    test(`accepted: ${url}`, () => assert.deepEqual(parseDatabaseUrl(url).servers, [url]));
  }
  for (const url of ['postgresql://a:b@db.corp/d', 'postgresql://a:b@10.0.0.7:5432/d']) {
    test(`refused: ${url}`, () => {
      assert.throws(
        () => parseDatabaseUrl(url),
        /would be not encrypted.*sslmode=verify-full.*sslmode=disable/,
      );
    });
  }

  // The parts of a URL, and whether the connection is encrypted and the server's certificate
  // verified.
  for (const [options, isProtected] of [
    ['sslmode=verify-full', true],
    ['sslmode=verify-ca', true],
    ['sslmode=require', true],
    ['sslmode=prefer', true],
    ['sslmode=allow', true],
    ['ssl=true', true],
    ['sslmode=disable', false],
  ] as const) {
    test(`S19: another host is reached without encryption only if the URL says so: ${options}`, () => {
      const { Client, servers } = parseDatabaseUrl(`postgresql://a:b@db.corp/d?${options}`);
      const { ssl } = new Client({ connectionString: servers[0] }) as { readonly ssl?: unknown };
      const isLax =
        (ssl as { rejectUnauthorized?: boolean } | undefined)?.rejectUnauthorized === false;
      assert.equal(ssl !== undefined && ssl !== false && !isLax, isProtected);
    });
  }
  for (const options of [
    'sslmode=no-verify',
    'ssl=no-verify',
    'uselibpqcompat=true&sslmode=require',
    'uselibpqcompat=true&sslmode=prefer',
  ]) {
    test(`S19: refused for another host, but accepted for this machine: ${options}`, () => {
      const url = `postgresql://a:b@db.corp/d?${options}`;
      assert.throws(
        () => parseDatabaseUrl(url),
        /certificate is not verified.*sslmode=verify-full.*sslmode=disable/,
      );
      const near = url.replace('db.corp', '127.0.0.1');
      assert.deepEqual(parseDatabaseUrl(near).servers, [near]);
    });
  }
  test('S19: refused for another host, because Node verifies nothing in this environment', () => {
    const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
    const before = process.env[name];
    process.env[name] = '0';
    try {
      assert.throws(() => parseDatabaseUrl('postgresql://a:b@db.corp/d?ssl=true'), /not verified/);
    } finally {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  });
  for (const options of ['ssl=0', 'application_name=sslmode=disable', 'a=1']) {
    test(`S19: refused for another host: ${options}`, () => {
      assert.throws(
        () => parseDatabaseUrl(`postgresql://a:b@db.corp/d?${options}`),
        /be not encrypted/,
      );
    });
  }

  test('one URL can name several servers', () => {
    const url =
      'postgresql://a:p%2Cw@db1.corp:5433,db2.corp,[::1]:6432/d?sslmode=verify-full&target_session_attrs=read-write';
    const place = parseDatabaseUrl(url);
    assert.deepEqual(place.servers, [
      'postgresql://a:p%2Cw@db1.corp:5433/d?sslmode=verify-full',
      'postgresql://a:p%2Cw@db2.corp/d?sslmode=verify-full',
      'postgresql://a:p%2Cw@[::1]:6432/d?sslmode=verify-full',
    ]);
    assert.equal(place.shown, 'postgresql://a@db1.corp:5433,db2.corp:5432,::1:6432/d');
  });

  for (const [url, words] of [
    ['postgresql://a:secret@x,,y/d?sslmode=disable', 'a comma has no host before or after it'],
    [
      'postgresql://a:secret@x,y/d?sslmode=disable&target_session_attrs=standby',
      'target_session_attrs is "standby", and Drover needs the server that takes writes; use "read-write"',
    ],
  ] as const) {
    test(`several servers, refused: ${words}`, () => {
      assert.throws(
        () => parseDatabaseUrl(url),
        (error: Error) => error.message.includes(words) && !error.message.includes('secret'),
      );
    });
  }
});
