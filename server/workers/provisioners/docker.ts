// Workers in containers on this machine, through Docker's Engine API on its socket, which Podman
// also supports. The container serves the worker contract on a loopback port, with few privileges,
// and removes itself when its runtime ends.

import * as z from 'zod';
import { err, ok, type Result } from '../../core/failure.ts';
import { toSingleLine } from '../client/request.ts';
import { askJson, type JsonAnswer, type JsonRequest } from './json-request.ts';
import type { CreateFailure, Instance, InstanceSpec, Provisioner } from './port.ts';

export interface DockerOptions {
  readonly socketPath: string;
  /** Bytes. Null = no limit. */
  readonly memoryBytes: number | null;
}

const port = '8080/tcp';
const ownerLabel = 'dev.drover.owner';
const missingImage =
  'set [remote] image to an image that serves the worker contract (docs/worker-runtime.md).';

const createdSchema = z.object({ Id: z.string().regex(/^[0-9a-f]{12,64}$/) });
const bindingSchema = z.object({ HostPort: z.string().regex(/^\d{1,5}$/) });
const inspectedSchema = z.object({
  State: z.object({ Running: z.boolean() }),
  NetworkSettings: z.object({
    Ports: z.record(z.string(), z.array(bindingSchema).nullable()).nullish(),
  }),
});
const listedSchema = z.array(z.object({ Id: z.string(), Names: z.array(z.string()) }));
const messageSchema = z.object({ message: z.string() });

export function createDockerProvisioner(options: DockerOptions): Provisioner {
  const { socketPath } = options;
  const ask = (request: JsonRequest): Promise<Result<JsonAnswer, string>> =>
    askJson({ url: 'http://localhost', socketPath }, request);
  const unreachable = (reason: string): string =>
    `the container engine at ${socketPath} cannot be reached: ${reason}.`;
  return {
    kind: 'docker',
    capabilities: { env: true, list: true, foreignPaths: true },
    create: async (spec, signal) => {
      const failed = (message: string, isCertain = false): Result<Instance, CreateFailure> =>
        err({ message, isCertain });
      if (spec.image === null) return failed(missingImage, true);
      const body = containerOf(spec, spec.image, options.memoryBytes);
      const path = `/containers/create?name=${spec.name}`;
      const made = await ask({ method: 'POST', path, body, signal });
      if (!made.ok) return failed(unreachable(made.error));
      if (made.value.status === 404) {
        const words = `image ${toSingleLine(spec.image)} does not exist here. Build or pull it first.`;
        return failed(words, true);
      }
      const created = createdSchema.safeParse(made.value.value);
      if (made.value.status !== 201 || !created.success) return failed(saidOf(made.value));
      const id = created.data.Id;
      const started = await ask({ method: 'POST', path: `/containers/${id}/start`, signal });
      if (!started.ok) return failed(unreachable(started.error));
      if (started.value.status >= 300) return failed(saidOf(started.value));
      const shown = await ask({ method: 'GET', path: `/containers/${id}/json`, signal });
      if (!shown.ok) return failed(unreachable(shown.error));
      const hostPort = hostPortOf(shown.value);
      if (hostPort === null) return failed(`the container ended at once, or has no port ${port}.`);
      const url = `http://127.0.0.1:${hostPort}`;
      return ok({ name: spec.name, id, url, token: spec.token });
    },
    destroy: async ({ name, id }) => {
      const path = `/containers/${encodeURIComponent(id ?? name)}?force=true&v=true`;
      const gone = await ask({ method: 'DELETE', path });
      if (!gone.ok) return err(unreachable(gone.error));
      const { status } = gone.value;
      return status < 300 || status === 404 ? ok(null) : err(saidOf(gone.value));
    },
    isGone: async ({ name }) => {
      const shown = await ask({ method: 'GET', path: `/containers/${name}/json` });
      if (!shown.ok) return false;
      if (shown.value.status === 404) return true;
      const inspected = inspectedSchema.safeParse(shown.value.value);
      return inspected.success && !inspected.data.State.Running;
    },
    list: async (owner) => {
      const filters = encodeURIComponent(JSON.stringify({ label: [`${ownerLabel}=${owner}`] }));
      const path = `/containers/json?all=true&filters=${filters}`;
      const said = await ask({ method: 'GET', path });
      if (!said.ok) return err(unreachable(said.error));
      const listed = listedSchema.safeParse(said.value.value);
      if (said.value.status !== 200 || !listed.success) return err(saidOf(said.value));
      return ok(
        listed.data.map(({ Id, Names }) => ({ name: (Names[0] ?? '').replace(/^\//, ''), id: Id })),
      );
    },
  };
}

function containerOf(spec: InstanceSpec, image: string, memoryBytes: number | null): object {
  const env = { ...spec.env, AGENT_TOKEN: spec.token, PORT: '8080' };
  return {
    Image: image,
    // Arguments of the runtime, after the image's entry point.
    Cmd: ['--lifetime', `${Math.ceil(spec.ttlMs / 1000)}s`],
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    Labels: { [ownerLabel]: spec.owner },
    ExposedPorts: { [port]: {} },
    HostConfig: {
      AutoRemove: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      PortBindings: { [port]: [{ HostIp: '127.0.0.1', HostPort: '' }] },
      ...(memoryBytes === null ? {} : { Memory: memoryBytes }),
    },
  };
}

function hostPortOf(answer: JsonAnswer): string | null {
  const inspected = inspectedSchema.safeParse(answer.value);
  if (!inspected.success || !inspected.data.State.Running) return null;
  return inspected.data.NetworkSettings.Ports?.[port]?.[0]?.HostPort ?? null;
}

function saidOf({ status, value }: JsonAnswer): string {
  const said = messageSchema.safeParse(value);
  const words = said.success ? toSingleLine(said.data.message) : 'no reason';
  return `the container engine answered ${status}: ${words}.`;
}
