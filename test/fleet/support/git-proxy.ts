// One machine's connection to the git server, which the test can cut for that machine alone.

import assert from 'node:assert/strict';
import { stallingProxy } from '../../store-postgres/bad-surroundings.ts';
import type { Fleet } from './fleet.ts';
import type { Machine } from './machine.ts';

type Proxy = Awaited<ReturnType<typeof stallingProxy>>;

export async function gitThroughProxy(fleet: Fleet, machine: Machine): Promise<Proxy> {
  const { port } = new URL(fleet.gitServer.urlAt('127.0.0.1'));
  const proxy = await stallingProxy(Number(port));
  const url = fleet.gitServer.urlAt('127.0.0.1').replace(`:${port}/`, `:${proxy.port}/`);
  const set = await machine.run('git', ['-C', 'repo', 'remote', 'set-url', 'origin', url]);
  assert.equal(set.code, 0, set.stderr);
  return proxy;
}
