// Workers in containers, against a double of the documented Engine API.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDockerProvisioner } from '../../../../server/workers/provisioners/docker.ts';
import {
  startContainerEngine,
  type ContainerEngine,
  type EngineOptions,
} from '../../../doubles/container-engine.ts';
import { removeFolder } from '../../../remove-folder.ts';

const spec = {
  name: 'drv-0123abcd-1',
  owner: 'local:/home/me/my project',
  token: 'tok',
  env: { MODEL_KEY: 'k' },
  image: 'worker:1',
  ttlMs: 60_000,
};
const signal = new AbortController().signal;

suite('docker provisioner', () => {
  let folder: string;
  let engine: ContainerEngine | null = null;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-engine-'));
  });
  teardown(async () => {
    await engine?.close();
    engine = null;
    removeFolder(folder);
  });
  async function open(options: Partial<EngineOptions> = {}) {
    const socketPath = join(folder, 'socket');
    engine = await startContainerEngine({
      socketPath,
      images: ['worker:1'],
      hostPort: 4_711,
      ...options,
    });
    const provisioner = createDockerProvisioner({ socketPath, memoryBytes: 256 * 1024 * 1024 });
    return { engine, provisioner };
  }

  test('a container has few capabilities, is on loopback, has a lifetime, is found by its owner, and is removed at the end', async () => {
    const { engine: running, provisioner } = await open();
    const made = await provisioner.create(spec, signal);
    assert.ok(made.ok, JSON.stringify(made));
    assert.equal(made.value.url, 'http://127.0.0.1:4711');
    const container = running.containers.get(made.value.id);
    assert.deepEqual(container?.body.Cmd, ['--lifetime', '60s']);
    assert.deepEqual(container.body.Env.toSorted(), [
      'AGENT_TOKEN=tok',
      'MODEL_KEY=k',
      'PORT=8080',
    ]);
    assert.deepEqual(container.body.HostConfig, {
      AutoRemove: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      PortBindings: { '8080/tcp': [{ HostIp: '127.0.0.1', HostPort: '' }] },
      Memory: 256 * 1024 * 1024,
    });
    const ref = { name: spec.name, id: made.value.id };
    assert.deepEqual(await provisioner.list(spec.owner), { ok: true, value: [ref] });
    assert.deepEqual(await provisioner.list('another'), { ok: true, value: [] });
    assert.equal(await provisioner.isGone?.(ref), false);
    // The creation was not finished as far as the lease knows: it is found by its name.
    assert.ok((await provisioner.destroy({ name: spec.name, id: null })).ok);
    assert.equal(running.containers.size, 0);
    assert.ok((await provisioner.destroy(ref)).ok);
    assert.equal(await provisioner.isGone?.(ref), true);
  });

  test('a missing image, a missing engine and a container that does not start are reported with their reason', async () => {
    const { provisioner } = await open({ startStatus: 500 });
    const unknown = await provisioner.create({ ...spec, image: 'nowhere' }, signal);
    assert.ok(!unknown.ok && unknown.error.isCertain);
    assert.match(unknown.error.message, /image nowhere does not exist here/);
    const none = await provisioner.create({ ...spec, image: null }, signal);
    assert.ok(!none.ok && none.error.isCertain && /\[remote\] image/.test(none.error.message));
    const full = await provisioner.create(spec, signal);
    // It exists, so it must be destroyed.
    assert.ok(!full.ok && !full.error.isCertain && /500: full/.test(full.error.message));
    const nowhere = createDockerProvisioner({ socketPath: '/nowhere.sock', memoryBytes: null });
    const gone = await nowhere.destroy({ name: spec.name, id: null });
    assert.ok(!gone.ok && /\/nowhere\.sock cannot be reached/.test(gone.error));
  });
});
