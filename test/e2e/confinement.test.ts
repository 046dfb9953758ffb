// Agents and gates in the sandbox: they do their work and reach nothing else, even when the backend
// or the agent is killed.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually } from './support/eventually.ts';
import { killAll, processesOf } from './support/processes.ts';
import type { Project, ProjectOptions } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** Installed, and allowed to create namespaces here, which some containers forbid. */
const isThere =
  spawnSync('bwrap', ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-all', 'true']).status ===
  0;

/**
 * A run of one task, its slot, and the command and backend, which are killed once the agent is
 * running.
 */
async function killedAtWork(here: Project): Promise<string> {
  await here.expect(0, ['add', 'a']);
  const running = here.start(['run']);
  const slot = join(`${here.root}.worktrees`, 'slot-1');
  await eventually('the agent is at work', () => existsSync(join(slot, 'ready.txt')));
  running.signal('SIGKILL');
  await running.ended;
  await here.killBackend();
  return slot;
}

suite('confinement', function () {
  this.timeout(120_000);
  suiteSetup(() => {
    assert.ok(
      isThere,
      'bubblewrap is missing or may not make namespaces here: apt-get install bubblewrap',
    );
  });
  const project = useProjects();

  /**
   * `configured`: lines of the user's own git configuration, which a backend reads when it starts.
   */
  const begin = async (options: ProjectOptions, configured = ''): Promise<Project> => {
    const here = project({ ...options, env: { DROVER_SANDBOX: 'bwrap', ...options.env } });
    appendFileSync(join(here.folder, 'home', '.gitconfig'), configured);
    await here.expect(0, ['init']);
    return here;
  };

  test('an agent edits, commits and stages, the gate tests the work, and it lands', async () => {
    const here = await begin({
      agent: `
cat > /dev/null
echo one > one.txt; git add one.txt; GIT_CONFIG_GLOBAL=/dev/null git commit -qm 'one'
git branch side; git tag mark
echo two > two.txt; git add two.txt
echo three > three.txt
git status --porcelain
`,
      settings:
        '[gate]\ncommand = "test -f one.txt && test -f three.txt && git log -1 --format=%s"\n',
    });
    await here.expect(0, ['add', 'a']);
    await here.expect(0, ['run']);
    const files = here.git('ls-tree', '--name-only', 'main').split('\n');
    for (const name of ['one.txt', 'two.txt', 'three.txt']) assert.ok(files.includes(name), name);
    assert.match(here.git('log', '--format=%s by %an'), /^one by A Person$/m);
    assert.equal(here.git('branch', '--list', 'side'), '');
    assert.equal(here.git('tag'), '');
    assert.equal(here.git('fsck', '--strict', '--no-dangling').trim(), '');
  });

  test("an agent's work excludes files that the user's own ignore file names", async () => {
    const here = await begin(
      { agent: 'cat > /dev/null; echo a > a.txt; echo b > b.swp; git add -A; git commit -qm mine' },
      '[core]\n\texcludesFile = ~/.gitignore_global\n',
    );
    here.write('home/.gitignore_global', '*.swp\n');
    await here.expect(0, ['add', 'a']);
    await here.expect(0, ['run']);
    const files = here.git('ls-tree', '--name-only', 'main').split('\n');
    assert.deepEqual([files.includes('a.txt'), files.includes('b.swp')], [true, false]);
  });

  test("an agent's commits have the identity and the settings from files that the user's configuration includes", async () => {
    const here = await begin(
      {
        agent: `
cat > /dev/null
printf 'one\\r\\n' > a.txt; git add a.txt
git commit -qm 'mine'; git config user.nickname > nickname.txt
`,
      },
      '[include]\n\tpath = ~/.gitconfig-work\n',
    );
    here.write(
      'home/.gitconfig-work',
      '[user]\n\tname = Ada\n\tnickname = ada\n[core]\n\tautocrlf = input\n',
    );
    await here.expect(0, ['add', 'a']);
    await here.expect(0, ['run']);
    assert.match(here.git('log', '--format=%s by %an'), /^mine by Ada$/m);
    assert.equal(here.git('show', 'main:nickname.txt'), 'ada');
    assert.equal(here.git('cat-file', '-s', 'main:a.txt'), '4');
  });

  test('an agent of a user who signs commits makes unsigned commits', async () => {
    const here = await begin(
      { agent: 'cat > /dev/null; echo a > a.txt; git add a.txt; git commit -qm mine' },
      '[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = /no/gpg\n',
    );
    await here.expect(0, ['add', 'a']);
    await here.expect(0, ['run']);
    assert.match(here.git('log', '--format=%s'), /^mine$/m);
    const doctor = await here.expect(0, ['doctor']);
    assert.match(doctor, /off for confined programs: commit\.gpgsign/u);
  });

  test('a planning agent changes nothing in its worktree, and its plan waits', async () => {
    const here = await begin({
      agent: `
cat > /dev/null
if [ "\${DROVER_PLANNING:-}" = 1 ]; then
  echo x > planned.txt || echo 'no file was written'
  git status --porcelain
else
  echo done > built.txt
fi
`,
    });
    const id = await here.add('a', '--plan');
    await here.expect(2, ['run']);
    assert.equal((await here.task(id)).proposal?.text, 'no file was written');
    await here.expect(0, ['approve', id]);
    await here.expect(0, ['run']);
    assert.equal(here.git('show', 'main:built.txt').trim(), 'done');
  });

  test("an agent cannot reach other folders, processes, the owner's token or the repository", async () => {
    const here = await begin({
      agent: `
cat > /dev/null
try() { name=$1; shift; if sh -c "$*" > /dev/null 2>&1; then echo "OUT $name" >> probes.txt; else echo "held $name" >> probes.txt; fi; }
root=$(dirname "$(dirname "$PWD")")/repo
try 'write home of user' "echo x > ~/escaped; test -e $root/../home/escaped-marker"
try 'read checkout' "cat $root/README.md"
try 'read backend.json' "cat $root/.drover/backend.json"
try 'write hooks' "echo x > $root/.git/hooks/pre-commit && test -e /usr/../$root/README.md"
try 'other processes' "ls /proc | grep -E '^[0-9]+$' | grep -vE '^[0-9]{1,2}$'"
try 'write system' "echo x > /usr/x"
try 'remount' "mount -o remount,bind,rw /usr"
try 'nested namespaces' "unshare -U true"
try 'see gate slot' "ls ../gate-1"
`,
    });
    await here.expect(0, ['add', 'a']);
    await here.expect(0, ['run']);
    const said = here.git('show', 'main:probes.txt').split('\n');
    assert.deepEqual(
      said.filter((line) => line.startsWith('OUT')),
      [],
    );
    assert.equal(said.filter((line) => line.startsWith('held')).length, 9);
    assert.equal(existsSync(join(here.folder, 'home', 'escaped')), false);
    assert.equal(existsSync(join(here.root, '.git', 'hooks', 'pre-commit')), false);
  });

  test('an agent reads the images of its description, cannot change them, and sees no others', async () => {
    const here = await begin({
      agent: `
path=$(sed -n 's/^- attachment:[^ ]*: //p')
cp "$path" seen.gif
sh -c "echo x >> $path" 2> /dev/null && echo changed > changed.txt
ls "$(dirname "$path")" > listed.txt
`,
    });
    writeFileSync(join(here.folder, 'shot.gif'), 'GIF89a: the button is cut off');
    writeFileSync(join(here.folder, 'other.gif'), 'GIF89a: of another task');
    await here.expect(0, ['add', 'a', '-d', 'Mend it:', '--attach', '../shot.gif']);
    const other = await here.add('b', '--attach', '../other.gif');
    await here.expect(0, ['pause', other]);
    await here.expect(2, ['run']);
    assert.equal(here.git('show', 'main:seen.gif'), 'GIF89a: the button is cut off');
    assert.doesNotMatch(here.git('ls-tree', '--name-only', 'main'), /changed/u);
    assert.match(here.git('show', 'main:listed.txt'), /^[0-9a-f]{64}\.gif\s*$/u);
  });

  test("Drover's tools reach the agent inside the sandbox", async () => {
    const here = await begin({
      agent: `
cat > /dev/null
cat > call.mjs <<'CALL'
import { spawn } from 'node:child_process';
const child = spawn(process.env.DROVER_MCP_COMMAND, JSON.parse(process.env.DROVER_MCP_ARGS), { stdio: ['pipe', 'pipe', 'inherit'] });
const say = (message) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let text = '';
child.stdout.on('data', (chunk) => {
  text += chunk;
  if (text.includes('"id":1') && !text.includes('"id":2')) {
    say({ method: 'notifications/initialized' });
    say({ id: 2, method: 'tools/call', params: { name: 'read_task', arguments: {} } });
  }
  if (text.includes('"id":2')) { console.log(text); child.stdin.end(); }
});
say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
CALL
node call.mjs > answer.txt
rm call.mjs
`,
    });
    await here.expect(0, ['add', 'the very title']);
    await here.expect(0, ['run']);
    assert.match(here.git('show', 'main:answer.txt'), /the very title/);
  });

  test('a confined agent outlives its backend, is adopted, and its commit is imported', async () => {
    const here = await begin({
      agent: `
cat > /dev/null
echo one > one.txt; git add one.txt; git commit -qm one
echo ready > ready.txt
until test -e go.txt; do sleep 0.05; done
rm ready.txt go.txt
echo two > two.txt; git add two.txt; git commit -qm two
`,
    });
    const slot = await killedAtWork(here);
    writeFileSync(join(slot, 'go.txt'), '');
    await here.expect(0, ['run']);
    const subjects = here.git('log', '--format=%s', 'main');
    assert.match(subjects, /two/);
    assert.match(subjects, /one/);
  });

  test('if backend and agent are killed together, the commit exists for the next attempt', async () => {
    const here = await begin({
      agent: `
cat > /dev/null
echo one > one.txt; git add one.txt; git commit -qm one
echo ready > ready.txt
sleep 1000
`,
    });
    await killedAtWork(here);
    killAll(processesOf(here.folder));
    here.write('agent.sh', '#!/bin/sh\ncat > /dev/null\necho again > again.txt\n');
    await here.expect(0, ['run'], { timeoutMs: 60_000 });
    assert.ok(here.git('log', '--all', '--format=%s').includes('one'));
  });

  test('a mode that does not work here starts nothing, and the reason is reported', async () => {
    const here = await begin({ env: { DROVER_SANDBOX: 'srt' } });
    await here.expect(0, ['add', 'a']);
    const run = await here.drover(['run']);
    assert.notEqual(run.code, 0);
    assert.match(run.stdout + run.stderr, /\[sandbox\] mode = "srt" is not available here/);
  });

  test('with lists of hosts, the agent and the gate each reach only their own', async () => {
    const answers = [0, 1, 2].map(() => createServer((_, answer) => answer.end('answered')));
    const ports = await Promise.all(answers.map(listenOn));
    const [agents, gates, other] = ports;
    const ask = (name: string, port: number | undefined): string =>
      `node -e 'fetch("http://localhost:${port}").then(() => console.log("${name} reached"), () => console.log("${name} held"))'`;
    const all = [ask('agent', agents), ask('gate', gates), ask('other', other)].join('; ');
    const settings = `[sandbox]
network = ["localhost:${agents}"]
[gate]
network = ["127.0.0.1:${gates}"]
command = '''( ${all} ) > "$PWD/seen-by-gate" 2>&1; cat seen-by-gate; grep -q "gate reached" seen-by-gate && grep -q "agent held" seen-by-gate && grep -q "other held" seen-by-gate'''
`;
    const script = `cat > /dev/null\n( ${all} ) > seen.txt\n`;
    try {
      const here = await begin({ agent: script, settings });
      await here.expect(0, ['add', 'a']);
      await here.expect(0, ['run']);
      const said = here.git('show', 'main:seen.txt');
      assert.equal(said.trim(), 'agent reached\ngate held\nother held');
      assert.equal((await here.status()).sandbox?.network, `localhost:${agents}`);
      // If the wall is removed, all three are reachable.
      const open = await begin({ agent: script, env: { DROVER_SANDBOX: 'off' } });
      await open.expect(0, ['add', 'a']);
      await open.expect(0, ['run']);
      assert.doesNotMatch(open.git('show', 'main:seen.txt'), /held/);
    } finally {
      for (const server of answers) server.close();
    }
  });

  test('an agent with a list of hosts outlives its backend, and keeps exactly that network', async () => {
    const answers = [0, 1].map(() => createServer((_, answer) => answer.end('answered')));
    const [own, other] = await Promise.all(answers.map(listenOn));
    const ask = (name: string, port: number | undefined): string =>
      `node -e 'fetch("http://localhost:${port}").then(() => console.log("${name} reached"), () => console.log("${name} held"))' >> seen.txt`;
    try {
      const here = await begin({
        agent: `
cat > /dev/null
${ask('before', own)}
echo ready > ready.txt
until test -e go.txt; do sleep 0.05; done
rm ready.txt go.txt
${ask('after', own)}
${ask('other', other)}
`,
        settings: `[sandbox]\nnetwork = ["localhost:${own}"]\n`,
      });
      const slot = await killedAtWork(here);
      const again = here.start(['run']);
      await eventually('a backend has it again', async () => (await here.status()).run !== null);
      writeFileSync(join(slot, 'go.txt'), '');
      assert.equal((await again.ended).code, 0);
      // A second start would have asked twice before.
      const seen = here.git('show', 'main:seen.txt').trim();
      assert.equal(seen, 'before reached\nafter reached\nother held');
    } finally {
      for (const server of answers) server.close();
    }
  });

  test('an agent without its own sandbox is refused if one is required', async () => {
    const here = await begin({ env: { DROVER_SANDBOX: 'agent' } });
    const task = await here.add('a', '--max-attempts', '1');
    assert.notEqual((await here.drover(['run'])).code, 0);
    assert.match(
      (await here.task(task)).last_error ?? '',
      /command does not have its own sandbox that refuses to start if it does not work/,
    );
    const { sandbox } = await here.status();
    assert.equal(sandbox?.holds, 'agent');
    assert.match(sandbox?.message ?? '', /gates and setups run with all your permissions/);
  });

  test("doctor's escape attempts fail in the sandbox and succeed without it", async () => {
    const here = await begin({});
    type Told = { sandbox: readonly { probe: string; stopped: boolean }[] };
    const { sandbox } = await here.json<Told>(['doctor', '--sandbox']);
    assert.ok(sandbox.length >= 12);
    assert.deepEqual(
      sandbox.filter(({ stopped }) => !stopped),
      [],
    );
    assert.match(await here.expect(0, ['doctor', '--sandbox']), /stopped +write a git hook/);
    const open = await here.json<Told>(['doctor', '--sandbox'], { env: { DROVER_SANDBOX: 'off' } });
    const out = open.sandbox.filter(({ stopped }) => !stopped).map(({ probe }) => probe);
    for (const probe of ['read another worktree', 'write a git hook', 'see other processes'])
      assert.ok(out.includes(probe), probe);
    assert.equal((await here.json<Partial<Told>>(['doctor'])).sandbox, undefined);
  });
});

function listenOn(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
