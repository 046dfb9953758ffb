// An agent's attempts to abuse Drover's tools from its sandbox, directly and not through the
// provided server: another task, a person's requests, other sockets and tokens, junk. Each attempt
// succeeds if its wall is removed: outside, with the owner's token, or without a sandbox.

import assert from 'node:assert/strict';
import { connectAgentSocket, connectSocket } from '../../server/rpc/transport/client.ts';
import { deciders } from '../../server/rpc/transport/decisions.ts';
import type { BackendAddress } from '../../server/protocol/api.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** Uses the protocol directly; each answer is the result, or the reason for a refusal. */
const client = `
import { connect } from 'node:net';
const frame = (message) => {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  return 'Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body;
};
export const open = (path) => new Promise((resolve) => {
  const socket = connect(path);
  const waiting = new Map();
  let bytes = Buffer.alloc(0);
  let id = 0;
  const end = (why) => { resolve(null); for (const done of waiting.values()) done('ENDED ' + why); waiting.clear(); };
  socket.on('error', (error) => end(error.code));
  socket.on('close', () => end('closed'));
  socket.on('connect', () => resolve({
    raw: (data) => new Promise((done) => { waiting.set('raw', done); socket.write(data); }),
    call: (method, params) => new Promise((done) => {
      id += 1;
      waiting.set(id, done);
      socket.write(frame({ id, method, params }));
    }),
    end: () => socket.destroy(),
  }));
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    for (;;) {
      const head = bytes.indexOf('\\r\\n\\r\\n');
      if (head === -1) return;
      const length = Number(/Content-Length: (\\d+)/i.exec(bytes.toString('latin1', 0, head))?.[1]);
      if (bytes.length < head + 4 + length) return;
      const { id: of, result, error } = JSON.parse(bytes.toString('utf8', head + 4, head + 4 + length));
      bytes = bytes.subarray(head + 4 + length);
      waiting.get(of)?.(error === undefined ? { result } : error.message);
      waiting.delete(of);
    }
  });
});
export const greet = async (path, secret) => {
  const wire = await open(path);
  if (wire === null) return 'ENDED unreachable';
  const hello = await wire.call('hello', { token: secret, client: 'agent', version: '0.1.0', protocol: PROTOCOL });
  return typeof hello === 'string' ? hello : wire;
};
`;

const abuse = `
import { greet, open } from './client.mjs';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
const { DROVER_MCP_SOCKET: own, DROVER_MCP_TOKEN: token, DROVER_MCP_ROOT: root } = process.env;
const tried = { verbs: {} };
const wire = await greet(own, token);
for (const verb of VERBS) {
  const answer = await wire.call(verb, { id: FOREIGN, title: 'Mine', text: 'x', token });
  tried.verbs[verb] = typeof answer === 'string' ? answer : 'OUT';
}
tried.foreign = await wire.call('agent.task', { id: FOREIGN });
tried.prototype = await wire.call('agent.task', JSON.parse('{"__proto__":{"id":"' + FOREIGN + '"},"id":7}'));
tried.own = typeof (await wire.call('agent.task', {}));
tried.noToken = await greet(own, '');
tried.otherToken = await greet(own, token.replace(/./g, (c) => (c === 'f' ? '0' : 'f')));
const silent = await open(own);
tried.beforeGreeting = await silent.call('agent.task', {});
tried.sockets = readdirSync(dirname(own));
const folder = join(root, '.drover');
tried.ownersAddress = existsSync(join(folder, 'backend.json'));
tried.othersTokens = existsSync(join(folder, 'logs')) ? readdirSync(join(folder, 'logs')) : [];
const big = await greet(own, token);
tried.big = await big.call('agent.progress', { text: 'y'.repeat(2_000_000) });
for (const [name, junk] of [
  ['longHeader', 'A'.repeat(8192)],
  ['negative', 'Content-Length: -1\\r\\n\\r\\n{}'],
  ['endless', 'Content-Length: 99999999999\\r\\n\\r\\n'],
]) tried[name] = await (await greet(own, token)).raw(junk);
const crowd = await Promise.all(Array.from({ length: 300 }, () => open(own)));
tried.amongMany = typeof (await wire.call('agent.task', {}));
for (const one of crowd) one?.end();
writeFileSync('tried.json', JSON.stringify(tried));
process.exit(0);
`;

type Tried = Readonly<Record<string, unknown>> & {
  readonly verbs: Readonly<Record<string, string>>;
};

suite('abuse of Drover’s tools', function () {
  this.timeout(180_000);
  const project = useProjects();
  const verbs = Object.keys(deciders).filter((verb) => verb !== 'hello');

  const script = (foreign: string, words: string): string => {
    const filled = (text: string): string =>
      text
        .replaceAll('VERBS', JSON.stringify(verbs))
        .replaceAll('FOREIGN', JSON.stringify(foreign))
        .replaceAll('PROTOCOL', '1');
    return `
cat > /dev/null
if [ "$id" != own ]; then echo other > other.txt; exit 0; fi
cat > client.mjs <<'CLIENT'
${filled(client)}
CLIENT
cat > abuse.mjs <<'ABUSE'
${filled(words)}
ABUSE
node abuse.mjs
rm client.mjs abuse.mjs
`;
  };
  const begin = async (words: string, sandbox: string): Promise<Project> => {
    const here = project({ env: { DROVER_SANDBOX: sandbox }, agent: script('foreign', words) });
    await beginPlan(here, ['own', { id: 'foreign', blocked_by: ['own'] }]);
    return here;
  };

  test("no attempt gets anything from inside except its own task's data", async () => {
    const here = await begin(abuse, 'bwrap');
    await here.expect(0, ['run', '--workers', '1']);
    const tried = JSON.parse(here.git('show', 'main:tried.json')) as Tried;
    assert.equal(Object.keys(tried.verbs).length, verbs.length);
    for (const [verb, answer] of Object.entries(tried.verbs))
      assert.match(answer, /^An agent may not ask for /, verb);
    assert.match(String(tried['foreign']), /is neither your task nor one that it waits for/);
    assert.match(String(tried['prototype']), /"id" must be/);
    assert.deepEqual([tried['own'], tried['amongMany']], ['object', 'object']);
    for (const name of ['noToken', 'otherToken'])
      assert.match(String(tried[name]), /The token is not the one of this backend/, name);
    assert.match(String(tried['beforeGreeting']), /The first request must be hello/);
    assert.equal(tried['ownersAddress'], false);
    assert.deepEqual(tried['othersTokens'], ['own']);
    assert.equal((tried['sockets'] as readonly string[]).length, 1);
    for (const name of ['big', 'longHeader', 'negative', 'endless'])
      assert.match(String(tried[name]), /^ENDED/, name);
    assert.equal((await here.task('foreign')).title, 'Task foreign');
    assert.deepEqual((await here.status()).questions, []);
  });

  test('each attempt succeeds if its wall is removed', async () => {
    // Both are running without a sandbox, and each token is known here.
    const here = project({
      env: { DROVER_SANDBOX: 'off' },
      agent: `cat > /dev/null
echo "$DROVER_TASK_ID $DROVER_MCP_TOKEN $DROVER_MCP_SOCKET" >> ../../tokens
test -r "$DROVER_MCP_ROOT/.drover/backend.json" && ls "$DROVER_MCP_ROOT/.drover/logs" >> ../../seen
until test -e ../../go; do sleep 0.05; done
echo x > "$DROVER_TASK_ID.txt"`,
    });
    await here.expect(0, ['init']);
    const [own, foreign] = [await here.add('Own'), await here.add('Foreign')];
    const run = here.start(['run', '--workers', '2']);
    const lines = await eventually('both agents', () => {
      const found = here.read('tokens').trim().split('\n');
      return found.length === 2 ? found.map((line) => line.split(' ')) : null;
    });
    assert.match(here.read('seen'), new RegExp(own), 'the owner’s address and others’ folders');
    const owners = JSON.parse(here.read('repo/.drover/backend.json')) as BackendAddress;
    const [, theirs = '', socket = ''] = lines.find(([id]) => id === foreign) ?? [];
    const agent = await connectAgentSocket(
      { socket: socket === '' ? owners.socket : socket },
      theirs,
    );
    assert.equal((await agent.call('agent.task', {})).id, foreign, 'with the token of the other');
    agent.close();
    const person = await connectSocket(owners);
    assert.equal((await person.call('task.show', { id: foreign })).id, foreign);
    await person.call('task.edit', { id: foreign, title: 'Edited' });
    assert.equal((await here.task(foreign)).title, 'Edited', 'with the token of the owner');
    person.close();
    here.write('go', '');
    assert.equal((await run.ended).code, 0);
  });
});
