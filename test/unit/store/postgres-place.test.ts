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
    test(`taken: ${url}`, () => assert.equal(placeOf(url).url, url));
  }
  for (const url of ['postgresql://a:b@db.corp/d', 'postgresql://a:b@10.0.0.7:5432/d']) {
    test(`refused: ${url}`, () => {
      assert.throws(
        () => placeOf(url),
        /would not be encrypted.*sslmode=verify-full.*sslmode=disable/,
      );
    });
  }
});
