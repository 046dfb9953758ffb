// C02, C03, C04, C41, C43: instances of Unikraft Cloud, against a double of its platform API.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { destroyInstance } from '../../../../server/workers/client/destroy.ts';
import { instanceName, writeLease } from '../../../../server/workers/client/leases.ts';
import { createUnikraftProvisioner } from '../../../../server/workers/provisioners/unikraft.ts';
import {
  startPlatform,
  type Platform,
  type PlatformOptions,
} from '../../../doubles/unikraft-api.ts';
import { removeFolder } from '../../../remove-folder.ts';

const spec = {
  name: 'drv-0123abcd-1',
  owner: 'machine:/home/me/project',
  token: 'worker-token',
  env: { ANTHROPIC_API_KEY: 'k' },
  image: 'index.unikraft.io/me/worker:1',
  ttlMs: 3_600_000,
};
const signal = new AbortController().signal;

suite('unikraft provisioner', () => {
  let platform: Platform | null = null;
  teardown(async () => {
    await platform?.close();
    platform = null;
  });
  async function open(options: Partial<PlatformOptions> = {}) {
    platform = await startPlatform({ key: 'account-key', ...options });
    const metro = `${platform.url}/v1/`;
    const provisioner = createUnikraftProvisioner({ metro, key: 'account-key', memoryBytes: null });
    return { platform, provisioner };
  }

  test("C04 also: the instance is created as the platform requires, tagged, with a dead-man schedule, and the account's key stays here", async () => {
    const { platform: running, provisioner } = await open();
    const made = await provisioner.create(spec, signal);
    assert.ok(made.ok, JSON.stringify(made));
    assert.equal(made.value.url, 'https://worker-1.fra0.unikraft.app');
    assert.equal(made.value.token, 'worker-token');
    const { tags, schedules, ...body } = running.instances.get(made.value.id)?.body ?? {};
    assert.deepEqual(body, {
      name: spec.name,
      image: spec.image,
      memory_mb: 1024,
      autostart: true,
      env: { ANTHROPIC_API_KEY: 'k', AGENT_TOKEN: 'worker-token' },
      service_group: {
        services: [{ port: 443, destination_port: 8080, handlers: ['tls', 'http'] }],
      },
    });
    assert.match(JSON.stringify(tags), /^\["drover","owner:[0-9a-f]{16}"\]$/);
    const [schedule] = schedules as { when: string; action: string }[];
    assert.equal(schedule?.action, 'delete');
    const whenMs = Date.parse(`${schedule.when.replace(' ', 'T')}Z`);
    assert.ok(Math.abs(whenMs - (Date.now() + spec.ttlMs + 30 * 60_000)) < 60_000);
    assert.ok(!JSON.stringify(running.instances.get(made.value.id)).includes('account-key'));
    const ref = { name: spec.name, id: made.value.id };
    assert.deepEqual(await provisioner.list(spec.owner), { ok: true, value: [ref] });
    assert.deepEqual(await provisioner.list('someone:/else'), { ok: true, value: [] });
    assert.ok((await provisioner.destroy(ref)).ok);
    assert.ok((await provisioner.destroy(ref)).ok, 'gone already');
    assert.equal(running.instances.size, 0);
  });

  test('a plan without tags and schedules gets an instance without them', async () => {
    const { platform: running, provisioner } = await open({ refusesTags: true });
    const made = await provisioner.create(spec, signal);
    assert.ok(made.ok);
    assert.ok(!('tags' in (running.instances.get(made.value.id)?.body ?? {})));
  });

  test('C02 an address that the instance does not report is requested from its service, under either name; without one there is no guess', async () => {
    for (const groupsName of ['service_groups', 'services'] as const) {
      const { platform: running, provisioner } = await open({ domains: 'service', groupsName });
      const made = await provisioner.create(spec, signal);
      assert.ok(made.ok && made.value.url === 'https://worker-1.fra0.unikraft.app');
      assert.ok(running.requests.includes('GET /v1/services/group-1'));
      await running.close();
    }
    const { platform: running, provisioner } = await open({ domains: 'none' });
    const made = await provisioner.create(spec, signal);
    assert.ok(!made.ok && !made.error.isCertain && /no address/.test(made.error.message));
    assert.ok((await provisioner.destroy({ name: spec.name, id: null })).ok);
    assert.equal(running.instances.size, 0);
  });

  test('C03 an instance whose creation was not answered is found by its name and deleted, and no other instance is', async () => {
    const { platform: running, provisioner } = await open({ spoils: 'cut' });
    running.instances.set('other', { uuid: 'other', name: 'drover-worker-1', body: {} });
    const made = await provisioner.create(spec, signal);
    assert.ok(!made.ok && !made.error.isCertain);
    assert.equal(running.instances.size, 2);
    assert.ok((await provisioner.destroy({ name: spec.name, id: null })).ok);
    assert.deepEqual([...running.instances.keys()], ['other']);
  });

  test('C39 the fifth try to delete succeeds; if it fails too, the lease stays and the instance is named', async () => {
    for (const deleteFailures of [4, 5]) {
      const { platform: running, provisioner } = await open({ deleteFailures });
      const made = await provisioner.create(spec, signal);
      assert.ok(made.ok);
      const leases = mkdtempSync(join(tmpdir(), 'drover-leases-'));
      const { name, owner } = spec;
      const { id } = made.value;
      const ends = { createdAtMs: 1, deadlineMs: 2, pid: 1, pidStart: '1', run: 'r' };
      writeLease(leases, { name, id, owner, provisioner: 'unikraft', ...ends });
      const times = { tries: 5, firstDelayMs: 1, longestDelayMs: 2 };
      const left = await destroyInstance(provisioner, leases, { name, id }, owner, times);
      const isGone = deleteFailures === 4;
      if (isGone) assert.equal(left, null);
      else assert.match(left ?? '', /drv-0123abcd-1 could not be destroyed.*drover remote destroy/);
      assert.deepEqual(readdirSync(leases), isGone ? [] : [`${name}.json`]);
      assert.equal(running.instances.size, isGone ? 0 : 1);
      assert.ok(running.requests.includes('PUT /v1/instances/stop'));
      removeFolder(leases);
      await running.close();
    }
  });

  test('C43 a partial success and the error of an item are failures of that item', async () => {
    for (const spoils of ['partial', 'item'] as const) {
      const { platform: running, provisioner } = await open({ spoils });
      const made = await provisioner.create(spec, signal);
      assert.ok(!made.ok && !made.error.isCertain, spoils);
      assert.match(made.error.message, spoils === 'item' ? /no capacity/ : /answered 200/);
      await running.close();
    }
  });

  test('C41 no instance has a name that stock coordinators delete', () => {
    for (let count = 1; count <= 100; count += 1) {
      assert.match(instanceName(count), /^drv-[0-9a-f]{8}-\d+$/);
    }
  });

  test('without a key, an image or a safe address, no request is sent', async () => {
    const open = (metro: string, key: string | null) =>
      createUnikraftProvisioner({ metro, key, memoryBytes: null });
    const refused = async (metro: string, key: string | null, image: string | null) => {
      const made = await open(metro, key).create({ ...spec, image }, signal);
      assert.ok(!made.ok && made.error.isCertain);
      return made.error.message;
    };
    assert.match(await refused('fra', null, 'i'), /UKC_TOKEN/);
    assert.match(await refused('fra', 'k', null), /\[remote\] image/);
    assert.match(await refused('http://api.example.org', 'k', 'i'), /must start with https/);
  });
});
