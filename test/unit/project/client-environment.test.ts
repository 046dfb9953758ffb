// The PATH of a run: the client's entries, then those that only the backend has.

import assert from 'node:assert/strict';
import { withBackendPath } from '../../../server/project/client-environment.ts';

suite('environment of a client', () => {
  const path = (client: string | undefined, backend: string): string | undefined =>
    withBackendPath(client === undefined ? {} : { PATH: client }, { PATH: backend })['PATH'];

  test("its own folders come first, then the backend's, each once", () => {
    assert.equal(path('/new:/bin', '/bin:/old'), '/new:/bin:/old');
    assert.equal(path('/bin', ''), '/bin');
    assert.equal(path(undefined, '/bin'), '/bin');
  });

  test("it has no relative folders, because they would be an agent's", () => {
    assert.equal(path('node_modules/.bin:.::/bin', './old'), '/bin');
  });

  test('it keeps its other variables, and the spelling of Path', () => {
    assert.deepEqual(withBackendPath({ Path: '/a', HOME: '/h' }, { PATH: '/b' }), {
      Path: '/a:/b',
      HOME: '/h',
    });
    assert.deepEqual(withBackendPath({ HOME: '/h' }, {}), { HOME: '/h' });
  });
});
