// The PATH of a run: the client's entries, then those that only the backend has.

import assert from 'node:assert/strict';
import { withBackendPath } from '../../../server/project/client-environment.ts';

suite('environment of a client', () => {
  const path = (client: string | undefined, backend: string): string | undefined =>
    withBackendPath(client === undefined ? {} : { PATH: client }, { PATH: backend })['PATH'];

  test('has its own folders first, then those of the backend, each once', () => {
    assert.equal(path('/new:/bin', '/bin:/old'), '/new:/bin:/old');
    assert.equal(path('/bin', ''), '/bin');
    assert.equal(path(undefined, '/bin'), '/bin');
  });

  test('has no relative folders: they would be those of an agent', () => {
    assert.equal(path('node_modules/.bin:.::/bin', './old'), '/bin');
  });

  test('keeps its other variables, and the spelling of Path', () => {
    assert.deepEqual(withBackendPath({ Path: '/a', HOME: '/h' }, { PATH: '/b' }), {
      Path: '/a:/b',
      HOME: '/h',
    });
    assert.deepEqual(withBackendPath({ HOME: '/h' }, {}), { HOME: '/h' });
  });
});
