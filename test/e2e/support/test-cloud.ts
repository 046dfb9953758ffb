// A cloud for the provisioner `hook`: real runtimes of the worker contract as the test's processes,
// each behind a network that the test can interrupt.

import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { startBadNetwork, type BadNetwork } from '../../workers/support/bad-network.ts';
import { runtimeProgram } from '../../workers/support/runtime-process.ts';
import type { Project } from './project.ts';
import { startProgram, type RunningProgram } from './run-program.ts';

interface Machine {
  readonly program: RunningProgram;
  readonly network: BadNetwork;
}

export interface TestCloud {
  /** Path of the hook script. */
  readonly hook: string;
  /** Instances that exist. */
  readonly machines: ReadonlyMap<string, Machine>;
  readonly made: () => number;
  /** Creates an instance for a provisioner other than the hook; resolves with its address. */
  create(options: InstanceRequest): Promise<{ readonly id: string; readonly url: string }>;
  destroy(name: string): Promise<void>;
  /** Closes every connection to every instance, and refuses new ones. */
  breakDown(): void;
  repair(): void;
  refused(): number;
  close(): Promise<void>;
}

const limitMs = 600_000;

export async function startTestCloud(here: Project): Promise<TestCloud> {
  const machines = new Map<string, Machine>();
  let made = 0;
  let isBroken = false;
  const create = async ({
    name,
    token,
    env,
  }: InstanceRequest): Promise<{ id: string; url: string }> => {
    const folder = join(here.folder, 'cloud', name);
    mkdirSync(folder, { recursive: true });
    const workspace = join(folder, 'workspace');
    const where = ['--listen', '127.0.0.1:0', '--workspace', workspace, '--json'];
    const program = startProgram({
      program: process.execPath,
      args: [runtimeProgram(), ...where],
      cwd: folder,
      env: {
        PATH: here.env['PATH'] ?? '',
        HOME: folder,
        TMPDIR: folder,
        ...env,
        AGENT_TOKEN: token,
      },
      timeoutMs: limitMs,
    });
    const line = await program.line((text) => text.includes('listening'));
    const { url } = JSON.parse(line) as { url: string };
    const network = await startBadNetwork(url, Number.POSITIVE_INFINITY);
    if (isBroken) network.breakDown();
    machines.set(name, { program, network });
    made += 1;
    return { id: name, url: network.url };
  };
  const destroy = async (name: string): Promise<void> => {
    const machine = machines.get(name);
    machines.delete(name);
    machine?.program.signal('SIGTERM');
    await machine?.program.ended;
    await machine?.network.close();
  };
  const server = createServer((request, response) => {
    void requestOf(request).then(async (options) => {
      if (request.url === '/destroy') await destroy(options.name);
      const said =
        request.url === '/create'
          ? await create(options)
          : [...machines.keys()].map((name) => ({ name, id: name }));
      response.end(JSON.stringify(said));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hook = join(here.folder, 'hook.sh');
  here.write('hook.sh', `#!/bin/sh\nexec curl -sf --data-binary @- http://127.0.0.1:${port}/$1\n`);
  chmodSync(hook, 0o755);
  const each = (act: (network: BadNetwork) => void): void => {
    for (const { network } of machines.values()) act(network);
  };
  return {
    hook,
    machines,
    made: () => made,
    create,
    destroy,
    breakDown: () => {
      isBroken = true;
      each((network) => network.breakDown());
    },
    repair: () => {
      isBroken = false;
      each((network) => network.repair());
    },
    refused: () => [...machines.values()].reduce((sum, { network }) => sum + network.refused(), 0),
    close: async () => {
      for (const name of machines.keys()) await destroy(name);
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface InstanceRequest {
  readonly name: string;
  readonly token: string;
  readonly env: Readonly<Record<string, string>>;
}

async function requestOf(request: IncomingMessage): Promise<InstanceRequest> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return JSON.parse(text) as InstanceRequest;
}
