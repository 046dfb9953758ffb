// Where a fleet's database is, and which connections to it are refused.

import assert from 'node:assert/strict';
import { placeOf } from '../../../server/store/postgres/database-url.ts';

suite('place of a fleet’s database', () => {
  for (const url of [
    'postgresql://a:b@127.0.0.1:5432/d',
    'postgresql://a@localhost/d',
    'postgresql://a@[::1]/d',
    'postgresql://a@/d?host=/run/postgresql',
    'postgresql://a:b@db.corp/d?sslmode=verify-full',
    'postgresql://a:b@db.corp/d?sslmode=disable',
  ]) {
    test(`taken: ${url}`, () => assert.deepEqual(placeOf(url).servers, [url]));
  }
  for (const url of ['postgresql://a:b@db.corp/d', 'postgresql://a:b@10.0.0.7:5432/d']) {
    test(`refused: ${url}`, () => {
      assert.throws(
        () => placeOf(url),
        /would not be encrypted.*sslmode=verify-full.*sslmode=disable/,
      );
    });
  }

  // What a URL says, whether it is encrypted, and whether the server's certificate is verified.
  for (const [options, isEncrypted, isVerified] of [
    ['sslmode=verify-full', true, true],
    ['sslmode=verify-ca', true, true],
    ['sslmode=require', true, true],
    ['sslmode=prefer', true, true],
    ['sslmode=allow', true, true],
    ['sslmode=no-verify', true, false],
    ['uselibpqcompat=true&sslmode=require', true, false],
    ['sslmode=disable', false, false],
  ] as const) {
    test(`S19: another host is reached without encryption only if the URL says so: ${options}`, () => {
      const { Client, servers } = placeOf(`postgresql://a:b@db.corp/d?${options}`);
      const { ssl } = new Client({ connectionString: servers[0] }) as { readonly ssl?: unknown };
      assert.equal(ssl !== undefined && ssl !== false, isEncrypted);
      const isLax =
        (ssl as { rejectUnauthorized?: boolean } | undefined)?.rejectUnauthorized === false;
      assert.equal(isEncrypted && !isLax, isVerified);
    });
  }
  for (const options of ['ssl=0', 'application_name=sslmode=disable', 'a=1']) {
    test(`S19: refused for another host: ${options}`, () => {
      assert.throws(() => placeOf(`postgresql://a:b@db.corp/d?${options}`), /not be encrypted/);
    });
  }

  test('several servers in one URL', () => {
    const url =
      'postgresql://a:p%2Cw@db1.corp:5433,db2.corp,[::1]:6432/d?sslmode=verify-full&target_session_attrs=read-write';
    const place = placeOf(url);
    assert.deepEqual(place.servers, [
      'postgresql://a:p%2Cw@db1.corp:5433/d?sslmode=verify-full',
      'postgresql://a:p%2Cw@db2.corp/d?sslmode=verify-full',
      'postgresql://a:p%2Cw@[::1]:6432/d?sslmode=verify-full',
    ]);
    assert.equal(place.shown, 'postgresql://a@db1.corp:5433,db2.corp:5432,::1:6432/d');
  });

  for (const [url, words] of [
    ['postgresql://a:secret@x,,y/d?sslmode=disable', 'a host is missing beside a comma'],
    [
      'postgresql://a:secret@x,y/d?sslmode=disable&target_session_attrs=standby',
      'target_session_attrs is "standby", and Drover needs the server that takes writes; use "read-write"',
    ],
  ] as const) {
    test(`several servers, refused: ${words}`, () => {
      assert.throws(
        () => placeOf(url),
        (error: Error) => error.message.includes(words) && !error.message.includes('secret'),
      );
    });
  }
});
