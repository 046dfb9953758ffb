// Two users of one machine, with real user ids: neither can read, control or harm the other's
// project. Requires root, which can start programs as both.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { eventually } from './support/eventually.ts';
import { isProcessAlive, killAll, processesOf } from './support/processes.ts';
import { droverProgram } from './support/program.ts';

interface User {
  readonly uid: number;
  readonly home: string;
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Done {
  readonly code: number | null;
  readonly text: string;
}

interface Program {
  readonly node: string;
  readonly cli: string;
}

/** A copy, because the checkout may be in a home folder that other users cannot enter. */
function programIn(folder: string): Program {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  const dist = dirname(droverProgram());
  for (const name of readdirSync(dist).filter((each) => !each.endsWith('.map')))
    cpSync(join(dist, name), join(folder, 'dist', name), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const node = join(folder, 'node');
  cpSync(realpathSync(process.execPath), node);
  return { node, cli: join(folder, 'dist', 'cli.js') };
}

/** Ids that are unused on a usual machine. */
const [aliceId, bobId] = [61_001, 61_002];

const agent = `#!/bin/sh
cat > /dev/null
echo "secret work" > work.txt
while [ ! -e "$HOME/go" ]; do sleep 0.1; done
`;

suite('two users of one machine', function () {
  this.timeout(180_000);
  let folder: string;
  let program: Program;
  let shared: string;
  let alice: User;
  let bob: User;

  suiteSetup(() => {
    assert.equal(
      process.getuid?.(),
      0,
      'only root can start programs of two users: run it as root',
    );
  });

  setup(() => {
    folder = realpathSync(mkdtempSync(join('/tmp', 'drover-two-')));
    chmodSync(folder, 0o755);
    program = programIn(join(folder, 'program'));
    shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    alice = makeUser('alice', aliceId);
    bob = makeUser('bob', bobId);
  });

  teardown(async () => {
    for (const user of [alice, bob]) drover(user, ['server', 'stop', '--force']);
    const none = eventually('no process', () => processesOf(folder).length === 0, 20_000);
    await none.catch(() => killAll(processesOf(folder)));
    removeFolder(folder);
  });

  /** Other users can enter and list their homes, as on many machines. */
  function makeUser(name: string, uid: number): User {
    const home = join(folder, name);
    const root = join(home, 'repo');
    mkdirSync(root, { recursive: true, mode: 0o755 });
    writeFileSync(join(home, 'agent.sh'), agent);
    const identity = `[user]\n\tname = ${name}\n\temail = ${name}@example.org\n`;
    writeFileSync(join(home, '.gitconfig'), identity);
    for (const path of [home, root, join(home, 'agent.sh')]) {
      chmodSync(path, 0o755);
      chownSync(path, uid, uid);
    }
    const env = {
      PATH: `${dirname(program.node)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: home,
      TMPDIR: shared,
      // The runner finds processes that it leaves behind.
      TEST_FOLDER: tmpdir(),
      GIT_CONFIG_NOSYSTEM: '1',
      DROVER_SANDBOX: 'off',
      DROVER_AGENT_TYPE: 'command',
      DROVER_AGENT_PATH: join(home, 'agent.sh'),
    };
    const user = { uid, home, root, env };
    const made = sh(user, 'git init -q -b main && echo x > x && git add x && git commit -qm x');
    assert.equal(made.code, 0, made.text);
    return user;
  }

  function as(user: User, words: readonly string[], cwd: string, more = {}): Done {
    const [program = '', ...args] = words;
    const { uid, env } = user;
    const options = { cwd, uid, gid: uid, env: { ...env, ...more }, timeout: 120_000 } as const;
    const done = spawnSync(program, args, { ...options, encoding: 'utf8' });
    return { code: done.status, text: `${done.stdout}${done.stderr}` };
  }

  const sh = (user: User, line: string, cwd = user.root): Done =>
    as(user, ['/bin/sh', '-c', line], cwd);

  const drover = (user: User, args: readonly string[], cwd = user.root, more = {}): Done =>
    as(user, [program.node, '--no-warnings', program.cli, ...args], cwd, more);

  function expect(user: User, args: readonly string[], more = {}): string {
    const done = drover(user, args, user.root, more);
    assert.equal(done.code, 0, `drover ${args.join(' ')}\n${done.text}`);
    return done.text;
  }

  /** With a running agent. */
  async function beginRun(user: User): Promise<{ readonly pid: number; readonly socket: string }> {
    expect(user, ['init']);
    expect(user, ['add', 'A task']);
    expect(user, ['run', '--detach', '--gate', 'true']);
    const slot = join(user.home, 'repo.worktrees', 'slot-1', 'work.txt');
    await eventually('the agent works', () => existsSync(slot));
    const address = readFileSync(join(user.root, '.drover', 'backend.json'), 'utf8');
    return JSON.parse(address) as { pid: number; socket: string };
  }

  test('another user can neither read nor control a running project', async () => {
    const { pid, socket } = await beginRun(alice);
    const private_ = ['.drover', '.git/drover'].flatMap((path) => [
      `ls ${join(alice.root, path)}`,
      `cat ${join(alice.root, path)}/drover.db`,
    ]);
    const attempts = [
      ...private_,
      `cat ${alice.root}/.drover/backend.json`,
      `cat ${alice.root}/.drover/backend.log`,
      `ls ${alice.root}/.drover/logs`,
      `ls ${dirname(socket)}`,
      `echo x > ${alice.home}/repo.worktrees/slot-1/work.txt`,
      `rm -rf ${alice.home}/repo.worktrees/slot-1/work.txt`,
      `cat ${alice.home}/repo.worktrees/slot-1/work.txt`,
      `ls ${alice.home}/repo.worktrees`,
      `kill ${pid}`,
      `cat /proc/${pid}/environ`,
      `ln -s ${bob.home} ${alice.root}/.drover/x`,
    ];
    const open = attempts.filter((line) => sh(bob, line).code === 0);
    assert.deepEqual(open, []);
    const connect = `require('net').connect(${JSON.stringify(socket)}).on('connect', () => process.exit(0)).on('error', () => process.exit(7))`;
    assert.equal(as(bob, [program.node, '-e', connect], bob.root).code, 7);

    const before = expect(alice, ['events', '--json']);
    const commands = [
      'status',
      'add x',
      'init',
      'run',
      'resume',
      'events',
      'server stop',
      'reset',
      'worktree prune -f',
      'trust --yes',
      'remote list',
      'export',
    ];
    for (const words of commands) {
      for (const cwd of [alice.root, join(alice.home, 'repo.worktrees')]) {
        if (!existsSync(cwd)) continue;
        const done = drover(bob, ['-C', cwd, ...words.split(' ')], bob.root);
        assert.notEqual(done.code, 0, `${words} in ${cwd}\n${done.text}`);
      }
    }
    assert.equal(expect(alice, ['events', '--json']), before);
    assert.ok(isProcessAlive(pid));
    writeFileSync(join(alice.home, 'go'), '');
    await eventually('the task lands', () => sh(alice, 'git cat-file -e main:work.txt').code === 0);
    assert.deepEqual(sh(bob, `ls -A ${bob.home}`).text.trim().split('\n'), [
      '.gitconfig',
      'agent.sh',
      'repo',
    ]);
  });

  test('files that another user created first are refused: the folder of sockets, or a link in its place', () => {
    expect(alice, ['init']);
    expect(alice, ['add', 'A task']);
    const place = join(shared, `drover-${aliceId}`);
    for (const make of [
      `mkdir -m 777 ${place}`,
      `ln -s ${bob.home} ${place}`,
      `mkdir -m 777 ${bob.home}/open && ln -s ${bob.home}/open ${place}`,
    ]) {
      assert.equal(sh(bob, make).code, 0);
      const done = drover(alice, ['hint', 'x', 'y']);
      assert.notEqual(done.code, 0);
      assert.match(done.text, /Another user can write to the folder/);
      // The agents' folder, which is created first, stays empty.
      assert.equal(sh(alice, `find -L ${place}/ -type s`).text, '');
      assert.equal(sh(bob, `rm -rf ${place} ${bob.home}/open`).code, 0);
    }
  });

  test("in a shared worktree folder, another user's links are not followed", async () => {
    const precious = join(alice.home, 'Documents');
    assert.equal(sh(alice, `mkdir ${precious} && echo p > ${precious}/p`).code, 0);
    const place = join(shared, 'worktrees');
    const more = { DROVER_WORKTREE_ROOT: place };
    writeFileSync(join(alice.root, '.drover.toml'), `worktree_root = "${place}"\n`);
    writeFileSync(join(alice.home, 'go'), '');
    const made = `mkdir -m 777 ${place} && ln -s ${precious} ${place}/.drover-trash && ln -s ${precious} ${place}/slot-1`;
    assert.equal(sh(bob, made).code, 0);
    expect(alice, ['init']);
    expect(alice, ['add', 'A task', '--max-attempts', '1']);
    const run = drover(alice, ['run', '--gate', 'true'], alice.root, more);
    assert.equal(readFileSync(join(precious, 'p'), 'utf8'), 'p\n', run.text);
    assert.equal(sh(alice, `ls -A ${precious}`).text, 'p\n', run.text);
    assert.equal(run.code, 3, run.text);
    assert.match(run.text, /Another user can write to the folder/);
    // Refused when the run starts: nothing has started, and nothing is accepted.
    assert.doesNotMatch(expect(alice, ['events', '--json']), /run\.started|task\.(?!created)/);
    assert.equal(existsSync(join(alice.root, '.git/drover/accepted-settings.json')), false);
    assert.match(drover(alice, ['doctor']).text, /Another user can write to the folder/);
  });

  test('a plan, a link or a git folder that another user created above is not a project', () => {
    const work = join(shared, 'work');
    for (const make of [
      `mkdir .drover && echo 'x = [' > .drover.toml`,
      `ln -s ${alice.home} .drover`,
      `git init -q && mkdir -p .git/drover/fence && cp .git/HEAD .git/drover/fence/HEAD`,
      `echo 'gitdir: ${alice.root}/.git' > .git`,
    ]) {
      assert.equal(sh(bob, make, shared).code, 0, make);
      assert.equal(sh(alice, `mkdir -p ${work}`).code, 0);
      const done = drover(alice, ['status', '--json'], work);
      assert.equal(done.code, 3, make);
      assert.match(done.text, /no_project/, make);
      assert.equal(sh(bob, 'rm -rf .drover .drover.toml .git', shared).code, 0);
    }
  });
});
