// Attempts on workers from ssh, a script or a fixed address.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { startContainerEngine } from '../doubles/container-engine.ts';
import { createSshProvisioner } from '../../server/workers/provisioners/ssh.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { killAll, processesOf } from './support/processes.ts';
import { droverProgram } from './support/program.ts';
import type { Project } from './support/project.ts';
import { startSshd } from './support/sshd.ts';
import { useProjects } from './support/suite-projects.ts';
import { startTestCloud } from './support/test-cloud.ts';
import { soakTest } from '../tier.ts';

const runtime = join(dirname(droverProgram()), 'worker-runtime.cjs');

function leases(here: Project): readonly string[] {
  const folder = join(here.root, '.drover', 'remote', 'leases');
  return existsSync(folder) ? readdirSync(folder) : [];
}

const settingsOf = (...lines: readonly string[]): string =>
  `runs_on = "remote"\n[remote]\n${lines.join('\n')}\n`;

function setSettings(here: Project, settings: string): void {
  writeFileSync(join(here.root, '.drover.toml'), settings);
  here.git('commit', '-qam', 'settings');
}

/** An agent in the repository, which is part of the upload. */
const inRepository = {
  files: {
    'tools/agent.sh':
      '#!/bin/sh\ncat > prompt.txt\necho "$MODEL_KEY|$SSH_AUTH_SOCK|$AGENT_TOKEN" > seen.txt\n',
  },
};

function makeRunnable(here: Project): Record<string, string> {
  chmodSync(join(here.root, 'tools/agent.sh'), 0o755);
  here.git('commit', '-qam', 'runnable');
  return { DROVER_AGENT_PATH: 'tools/agent.sh', MODEL_KEY: 'key-1', SSH_AUTH_SOCK: '/nowhere' };
}

const tunnels = (here: Project): ReturnType<typeof processesOf> =>
  processesOf(here.folder).filter(({ what }) => what.includes('-N -L'));

function sshProvisioner(
  here: Project,
  sshd: Awaited<ReturnType<typeof startSshd>>,
  endMarked: () => Promise<void> = async () => undefined,
): ReturnType<typeof createSshProvisioner> {
  return createSshProvisioner({
    program: '/usr/bin/ssh',
    host: '127.0.0.1',
    args: sshd.args,
    env: here.env,
    cwd: here.root,
    runtime,
    knownHosts: join(here.folder, 'own_known_hosts'),
    endMarked,
    startOutside: (_marker, start) => start,
    markerVariable: 'DROVER_RUN',
    tunnels: join(here.folder, 'tunnels', 't'),
  });
}

suite('remote provisioners', function () {
  this.timeout(240_000);
  const project = useProjects();

  test('ssh: the runtime is copied once, the work lands, and nothing keeps running on the host', async () => {
    const here = project(inRepository);
    const env = makeRunnable(here);
    const sshd = await startSshd(here);
    try {
      const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
      const args = JSON.stringify(sshd.args);
      setSettings(
        here,
        settingsOf(
          'provisioner = "ssh"',
          `host = "${user}@127.0.0.1"`,
          `ssh_args = ${args}`,
          'env = ["MODEL_KEY"]',
        ),
      );
      await beginPlan(here, ['far', { id: 'farther', blocked_by: ['far'] }]);
      await here.expect(0, ['run'], { env });
      assert.deepEqual(landedTasks(here), ['far', 'farther']);
      assert.equal(here.git('show', 'main:seen.txt'), 'key-1||');
      const cache = join(sshd.home, '.cache/drover');
      assert.equal(readdirSync(cache).filter((name) => name.startsWith('runtime-')).length, 1);
      assert.deepEqual(readdirSync(join(cache, 'workers')), []);
      assert.deepEqual(leases(here), []);
      const left = processesOf(here.folder).filter(({ what }) =>
        /-N -L|worker-runtime|runtime-/.test(what),
      );
      assert.deepEqual(left, []);
    } finally {
      await sshd.close();
    }
  });

  test('ssh: a host with an unknown key is refused with its fingerprint, and nothing was created', async () => {
    const here = project();
    const sshd = await startSshd(here);
    try {
      writeFileSync(sshd.knownHosts, '');
      const provisioner = sshProvisioner(here, sshd);
      const spec = { owner: 'me', token: 't', env: {}, image: null, ttlMs: 60_000 };
      const made = await provisioner.create(
        { name: 'drv-00000000-1', ...spec },
        new AbortController().signal,
      );
      assert.ok(!made.ok);
      assert.ok(made.error.message.includes(`ED25519 ${sshd.fingerprint}`), made.error.message);
      assert.match(made.error.message, /is not known.*Run "drover remote test"\.$/);
      assert.ok(made.error.isCertain);
    } finally {
      await sshd.close();
    }
  });

  test("ssh: a person can accept a host's key by its fingerprint, but never a changed key", async () => {
    const here = project();
    const sshd = await startSshd(here);
    const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
    const own = join(here.folder, 'home', '.config', 'drover', 'ssh_known_hosts');
    const other = `SHA256:${'A'.repeat(43)}`;
    try {
      writeFileSync(sshd.knownHosts, '');
      // Options that accept keys automatically elsewhere have no effect here.
      const lax = ['-o', 'StrictHostKeyChecking=no', '-o', 'UpdateHostKeys=yes'];
      setSettings(
        here,
        settingsOf(
          'provisioner = "ssh"',
          `host = "${user}@127.0.0.1"`,
          `ssh_args = ${JSON.stringify([...sshd.args, ...lax])}`,
        ),
      );
      for (const args of [['init'], ['trust', '--yes']]) await here.expect(0, args);
      const refused = await here.expect(1, ['remote', 'test']);
      const accept = `drover remote test --accept-host-key ${sshd.fingerprint}`;
      assert.ok(refused.includes(`ED25519 ${sshd.fingerprint}`), refused);
      assert.ok(refused.includes(accept), refused);
      const wrong = await here.expect(1, ['remote', 'test', '--accept-host-key', other]);
      assert.match(wrong, /shows ED25519 SHA256:.* not .*Nothing was accepted/);
      assert.ok(!existsSync(own));
      await here.expect(64, ['remote', 'test', '--accept-host-key', 'yes']);

      const accepted = ['remote', 'test', '--accept-host-key', sshd.fingerprint, '--json'];
      const tested = JSON.parse(await here.expect(0, accepted));
      assert.deepEqual([tested.ok, tested.host_key], [true, null]);
      await here.expect(0, ['remote', 'test']);
      const kept = readFileSync(own, 'utf8');
      assert.equal(kept.trim().split('\n').length, 1);
      assert.equal(readFileSync(sshd.knownHosts, 'utf8'), '', "the user's own file");

      const changed = await sshd.changeKey();
      const denied = await here.expect(1, ['remote', 'test']);
      assert.match(denied, /has changed/);
      assert.ok(denied.includes(changed) && denied.includes(own), denied);
      assert.ok(!denied.includes('--accept-host-key'), denied);
      const again = await here.expect(1, [
        'remote',
        'test',
        '--accept-host-key',
        changed,
        '--json',
      ]);
      const { ok, host_key: key } = JSON.parse(again);
      assert.deepEqual([ok, key.fingerprint, key.changed], [false, changed, true]);
      assert.equal(readFileSync(own, 'utf8'), kept);
      assert.deepEqual(leases(here), []);
    } finally {
      await sshd.close();
    }
  });

  soakTest(
    'ssh: a runtime that was killed on its host counts as dead, and an unreachable runtime does not',
    async () => {
      const here = project();
      const sshd = await startSshd(here);
      const provisioner = sshProvisioner(here, sshd, async () => killAll(tunnels(here)));
      const name = 'drv-00000000-1';
      const ref = { name, id: name };
      const spec = { name, owner: 'me', token: 't', env: {}, image: null, ttlMs: 60_000 };
      try {
        const made = await provisioner.create(spec, new AbortController().signal);
        assert.ok(made.ok, JSON.stringify(made));
        assert.equal(await provisioner.isGone?.(ref), false);
        const pid = Number(
          readFileSync(join(sshd.home, '.cache/drover/workers', name, 'pid'), 'utf8'),
        );
        process.kill(pid, 'SIGKILL');
        await eventually('it is gone', async () => (await provisioner.isGone?.(ref)) === true);
        assert.ok((await provisioner.destroy(ref)).ok);
        assert.equal(await provisioner.isGone?.(ref), true);
      } finally {
        await sshd.close();
      }
      assert.equal(await provisioner.isGone?.(ref), false, 'the host does not answer');
    },
  );

  soakTest('ssh: a tunnel that the network closes is reopened, and the job runs once', async () => {
    const here = project(inRepository);
    const begun = join(here.folder, 'begun');
    const gate = makeBarrier(here.folder, 'gate');
    const agent = `#!/bin/sh\ncat > prompt.txt\necho begun >> '${begun}'\n${gate.wait}\necho done > done.txt\n`;
    writeFileSync(join(here.root, 'tools/agent.sh'), agent);
    const env = makeRunnable(here);
    const sshd = await startSshd(here);
    try {
      const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
      const args = `ssh_args = ${JSON.stringify(sshd.args)}`;
      setSettings(here, settingsOf('provisioner = "ssh"', `host = "${user}@127.0.0.1"`, args));
      await beginPlan(here, ['far']);
      const run = here.start(['run'], { env });
      await eventually('it has begun', () => existsSync(begun));
      const cut = tunnels(here).filter(({ what }) => what.startsWith('/usr/bin/ssh'));
      assert.equal(cut.length, 1);
      // No port, because another user could occupy or use it.
      const socket = / -L (\/\S+):127\.0\.0\.1:\d+ /.exec(cut[0]?.what ?? '')?.[1] ?? '';
      const modes = [socket, dirname(socket)].map((path) => statSync(path).mode & 0o777);
      assert.deepEqual(modes, [0o600, 0o700]);
      killAll(cut);
      gate.open();
      assert.equal((await run.ended).code, 0);
      assert.deepEqual(landedTasks(here), ['far']);
      assert.equal(here.read('begun'), 'begun\n');
      assert.deepEqual([leases(here), tunnels(here)], [[], []]);
      assert.equal(existsSync(socket), false);
    } finally {
      gate.close();
      await sshd.close();
    }
  });

  test('docker: a container created through the documented engine API runs the task, and is removed', async () => {
    const here = project(inRepository);
    const env = makeRunnable(here);
    const cloud = await startTestCloud(here);
    const socketPath = join(here.folder, 'engine.sock');
    const engine = await startContainerEngine({
      socketPath,
      images: ['worker:1'],
      hostPort: 1,
      onStart: async ({ name, body }) => {
        const { AGENT_TOKEN: token = '', ...rest } = Object.fromEntries(
          body.Env.map((pair) => pair.split(/=(.*)/s, 2)),
        ) as Record<string, string>;
        const { url } = await cloud.create({ name, token, env: rest });
        return Number(new URL(url).port);
      },
      onRemove: ({ name }) => cloud.destroy(name),
    });
    try {
      setSettings(
        here,
        settingsOf(
          'provisioner = "docker"',
          'image = "worker:1"',
          `socket = "${socketPath}"`,
          'env = ["MODEL_KEY"]',
        ),
      );
      await beginPlan(here, ['far']);
      await here.expect(0, ['run'], { env });
      assert.deepEqual(landedTasks(here), ['far']);
      assert.equal(here.git('show', 'main:seen.txt'), 'key-1||');
      assert.deepEqual([engine.containers.size, cloud.machines.size, cloud.made()], [0, 0, 1]);
      assert.deepEqual(leases(here), []);
    } finally {
      await engine.close();
      await cloud.close();
    }
  });

  test('hook: a script creates and destroys the worker', async () => {
    const here = project(inRepository);
    const env = makeRunnable(here);
    const state = join(here.folder, 'cloud');
    mkdirSync(state);
    const script = `#!${process.execPath}
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const verb = process.argv[2];
const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const place = (name) => '${state}/' + name;
fs.appendFileSync('${here.folder}/calls', verb + ' ' + (input.name ?? '') + '\\n');
if (verb === 'list') {
  const names = fs.readdirSync('${state}');
  process.stdout.write(JSON.stringify(names.map((name) => ({ name, id: name }))));
} else if (verb === 'destroy') {
  try {
    process.kill(Number(fs.readFileSync(place(input.name) + '/pid', 'utf8')), 'SIGTERM');
  } catch {}
  fs.rmSync(place(input.name), { recursive: true, force: true });
} else {
  fs.mkdirSync(place(input.name));
  const out = fs.openSync(place(input.name) + '/out', 'w');
  const env = { PATH: process.env.PATH, HOME: '${here.folder}', TMPDIR: '${here.folder}/tmp', ...input.env, AGENT_TOKEN: input.token };
  const args = ['${runtime}', '--listen', '127.0.0.1:0', '--workspace', place(input.name) + '/workspace', '--json'];
  const child = spawn(process.execPath, args, { env, detached: true, stdio: ['ignore', out, out] });
  fs.writeFileSync(place(input.name) + '/pid', String(child.pid));
  child.unref();
  const timer = setInterval(() => {
    const said = fs.readFileSync(place(input.name) + '/out', 'utf8');
    if (!said.includes('\\n')) return;
    clearInterval(timer);
    process.stdout.write(JSON.stringify({ id: String(child.pid), url: JSON.parse(said).url }));
  }, 20);
}
`;
    here.write('hook.js', script);
    chmodSync(join(here.folder, 'hook.js'), 0o755);
    setSettings(
      here,
      settingsOf(
        'provisioner = "hook"',
        `hook = "${join(here.folder, 'hook.js')}"`,
        'env = ["MODEL_KEY"]',
      ),
    );
    await beginPlan(here, ['far']);
    await here.expect(0, ['run'], { env });
    assert.deepEqual(landedTasks(here), ['far']);
    assert.equal(here.git('show', 'main:seen.txt'), 'key-1||');
    const calls = here
      .read('calls')
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]);
    // The first list shows whether this hook's list names the worker at all.
    assert.deepEqual(calls, ['create', 'list', 'destroy', 'list']);
    assert.deepEqual(readdirSync(state), []);
    assert.deepEqual(leases(here), []);
  });

  soakTest(
    'an orphan that no lease names is listed by name, and destroyed by the id that its provisioner assigned',
    async () => {
      const here = project();
      const name = 'drv-0000000a-1';
      const orphan = JSON.stringify([{ name, id: 'machine-77' }]);
      here.write('instances.json', orphan);
      const script = `#!/bin/sh
case $1 in
list) if grep -q '"owner":"0123456789ab:'; then cat '${here.folder}/instances.json'; else echo '[]'; fi ;;
destroy) cat > '${here.folder}/destroyed.json'; echo '[]' > '${here.folder}/instances.json' ;;
esac
`;
      here.write('hook.sh', script);
      chmodSync(join(here.folder, 'hook.sh'), 0o755);
      setSettings(
        here,
        settingsOf('provisioner = "hook"', `hook = "${join(here.folder, 'hook.sh')}"`),
      );
      for (const args of [['init'], ['trust', '--yes']]) await here.expect(0, args);
      // A fleet's backend created it.
      here.write('repo/.drover/machine', '0123456789ab\n');
      const listed = await here.drover(['remote', 'list']);
      assert.match(listed.stdout, new RegExp(`^${name} orphan hook$`, 'm'));
      assert.ok(listed.stderr.includes(`drover remote destroy ${name}`), listed.stderr);
      await here.expect(0, ['remote', 'destroy', name]);
      assert.deepEqual(JSON.parse(here.read('destroyed.json')), { name, id: 'machine-77' });
      assert.equal((await here.expect(0, ['remote', 'list'])).trim(), 'No workers.');
    },
  );
});
