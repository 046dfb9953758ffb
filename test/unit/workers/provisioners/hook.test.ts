// Workers that a script makes: its allowed output, its time limit, and the processes that it may
// leave.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHookProvisioner } from '../../../../server/workers/provisioners/hook.ts';
import type { Provisioner } from '../../../../server/workers/provisioners/port.ts';
import { removeFolder } from '../../../remove-folder.ts';

const spec = {
  name: 'drv-0123abcd-1',
  owner: 'me',
  token: 'tok',
  env: { MODEL_KEY: 'k' },
  image: null,
  ttlMs: 90_500,
};
const signal = new AbortController().signal;
const answer = `echo '{"id":"i-1","url":"https://worker.example"}'`;

suite('hook provisioner', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-hook-'));
  });
  teardown(() => removeFolder(folder));

  function hook(body: string, timeoutMs = 60_000): Provisioner {
    const script = join(folder, 'hook');
    writeFileSync(script, `#!/bin/sh\n${body}\n`);
    chmodSync(script, 0o755);
    const env = { PATH: process.env['PATH'] ?? '' };
    return createHookProvisioner({ script, cwd: folder, env, timeoutMs });
  }

  async function refused(provisioner: Provisioner): Promise<string> {
    const made = await provisioner.create(spec, signal);
    assert.ok(!made.ok);
    assert.ok(!made.error.isCertain, 'something may have been made');
    return made.error.message;
  }

  test("it gets an instance's needs as JSON, and may give the instance its own token", async () => {
    const made = await hook(
      `[ $1 = create ] || exit 0; cat > '${folder}/asked'; echo '{"id":"i-1","url":"https://w.example","token":"own"}'`,
    ).create(spec, signal);
    assert.ok(made.ok);
    const { name } = spec;
    assert.deepEqual(made.value, { name, id: 'i-1', url: 'https://w.example', token: 'own' });
    const { ttlMs: _ttl, ...same } = spec;
    const asked: unknown = JSON.parse(readFileSync(join(folder, 'asked'), 'utf8'));
    assert.deepEqual(asked, { ...same, ttl_seconds: 91 });
  });

  test('it is not waited for if it leaves a worker running that holds its output open', async () => {
    const made = await hook(
      `sleep 600 & echo $! > '${folder}/pid'; cat > /dev/null; ${answer}`,
    ).create(spec, signal);
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL');
    assert.ok(made.ok, made.ok ? '' : made.error.message);
    assert.equal(made.value.id, 'i-1');
  });

  test('it is killed if it does not end in time', async () => {
    const message = await refused(hook('exec sleep 600', 300));
    assert.match(message, /did not end within 0\.3 s\.$/);
  });

  test('it is refused with the expected format if its output is not an instance', async () => {
    assert.match(await refused(hook('echo ready')), /create printed no JSON: ready\.$/);
    assert.match(await refused(hook('echo "{}"')), /create must print \{"id"/);
    const plain = hook(`echo '{"id":"i","url":"http://10.0.0.1"}'`);
    assert.match(await refused(plain), /must start with https/);
    assert.match(await refused(hook('echo no quota >&2; exit 7')), /exit code 7: no quota\.$/);
  });

  test('it lists and destroys by name and id, and its failure is reported', async () => {
    const listed = await hook(`cat > /dev/null; echo '[{"name":"a","id":"1"},{"name":"b"}]'`).list(
      'me',
    );
    assert.ok(listed.ok);
    assert.deepEqual(listed.value, [
      { name: 'a', id: '1' },
      { name: 'b', id: null },
    ]);
    const ref = { name: spec.name, id: 'i-1' };
    assert.ok((await hook(`cat > '${folder}/asked'`).destroy(ref)).ok);
    assert.deepEqual(JSON.parse(readFileSync(join(folder, 'asked'), 'utf8')), ref);
    assert.ok(!(await hook('exit 1').destroy(ref)).ok);
  });

  /** `list` prints the file `listed`, as the person's cloud would. */
  const cloud = (): Provisioner =>
    hook(`cat > /dev/null; case $1 in
      create) echo '[{"name":"${spec.name}"}]' > '${folder}/listed'; ${answer} ;;
      list) cat '${folder}/listed'; touch '${folder}/asked' ;;
    esac`);

  async function untilListed(): Promise<void> {
    while (!existsSync(join(folder, 'asked'))) await tick();
  }

  test('a worker that its list named before and no longer names does not exist any more', async () => {
    const provisioner = cloud();
    assert.ok((await provisioner.create(spec, signal)).ok);
    await untilListed();
    const ref = { name: spec.name, id: 'i-1' };
    assert.equal(await provisioner.isGone?.(ref), false);
    writeFileSync(join(folder, 'listed'), '[]\n');
    // The answer of the list that followed the creation may still be on its way.
    while (!(await provisioner.isGone?.(ref))) await tick();
  });

  for (const [what, words] of [
    ['is always empty', "echo '[]'"],
    ['prints nothing', 'true'],
    ['fails', 'exit 1'],
  ] as const) {
    test(`a hook whose list ${what} does not show that a worker no longer exists`, async () => {
      const provisioner = hook(`cat > /dev/null; case $1 in
        create) ${answer} ;;
        list) touch '${folder}/asked'; ${words} ;;
      esac`);
      assert.ok((await provisioner.create(spec, signal)).ok);
      await untilListed();
      assert.equal(await provisioner.isGone?.({ name: spec.name, id: 'i-1' }), false);
    });
  }
});

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
