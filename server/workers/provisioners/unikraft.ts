// Workers as instances of Unikraft Cloud, through its platform API. The account's key is sent only
// to the API, never to a worker.

import { createHash } from 'node:crypto';
import * as z from 'zod';
import { err, ok, type Result } from '../../core/failure.ts';
import { badAddress, toSingleLine } from '../client/request.ts';
import { askJson, type JsonAnswer, type JsonRequest } from './json-request.ts';
import type { CreateFailure, Instance, InstanceSpec, Provisioner } from './port.ts';

export interface UnikraftOptions {
  /** Name of a metro, or the full URL of its API. */
  readonly metro: string;
  /** Null if the account's key is not set. */
  readonly key: string | null;
  readonly memoryBytes: number | null;
}

const missingKey = 'set UKC_TOKEN to the key of your Unikraft Cloud account.';
const missingImage =
  'set [remote] image to an image that serves the worker contract (docs/worker-runtime.md).';
const mebibyte = 1024 * 1024;
const memoryDefaultBytes = 1024 * mebibyte;
/**
 * The platform itself deletes instances that still exist this long after the end of their lifetime.
 */
const afterTtlMs = 30 * 60_000;
const ownTag = 'drover';

const itemSchema = z.object({
  status: z.string().optional(),
  message: z.string().optional(),
  uuid: z.string().optional(),
  name: z.string().optional(),
  tags: z.array(z.string()).optional(),
  service_group: z
    .object({
      uuid: z.string().optional(),
      domains: z.array(z.object({ fqdn: z.string() })).optional(),
    })
    .nullish(),
});
const groupSchema = z.object({
  status: z.string().optional(),
  domains: z.array(z.object({ fqdn: z.string() })).optional(),
});
const envelopeSchema = z.object({
  status: z.enum(['success', 'error', 'partial_success']),
  message: z.string().optional(),
  errors: z.array(z.object({ status: z.number() })).optional(),
  data: z
    .object({
      instances: z.array(itemSchema).optional(),
      service_groups: z.array(groupSchema).optional(),
      services: z.array(groupSchema).optional(),
    })
    .nullish(),
});
type Envelope = z.infer<typeof envelopeSchema>;
type Item = z.infer<typeof itemSchema>;

export function createUnikraftProvisioner(options: UnikraftOptions): Provisioner {
  const api = new PlatformApi(options);
  return {
    kind: 'unikraft',
    capabilities: { env: true, list: true, foreignPaths: true },
    create: async (spec, signal) => {
      const refused = api.problem ?? (spec.image === null ? missingImage : null);
      if (refused !== null || spec.image === null) {
        return err({ message: refused ?? missingImage, isCertain: true });
      }
      return await create(api, spec, options.memoryBytes ?? memoryDefaultBytes, signal);
    },
    destroy: async ({ name, id }) => {
      if (api.problem !== null) return err(api.problem);
      return await destroy(api, name, id);
    },
    list: async (owner) => {
      if (api.problem !== null) return err(api.problem);
      const listed = await api.instances();
      if (!listed.ok) return listed;
      const tag = tagOf(owner);
      const own = listed.value.filter(({ tags }) => tags?.includes(tag) === true);
      return ok(own.map(({ name, uuid }) => ({ name: name ?? '', id: uuid ?? null })));
    },
  };
}

/** Owners contain paths, but everyone with access to the account can see tags. */
function tagOf(owner: string): string {
  return `owner:${createHash('sha256').update(owner).digest('hex').slice(0, 16)}`;
}

async function create(
  api: PlatformApi,
  spec: InstanceSpec,
  memoryBytes: number,
  signal: AbortSignal,
): Promise<Result<Instance, CreateFailure>> {
  const failed = (message: string): Result<Instance, CreateFailure> =>
    err({ message, isCertain: false });
  const plain = {
    name: spec.name,
    image: spec.image,
    memory_mb: Math.ceil(memoryBytes / mebibyte),
    autostart: true,
    env: { ...spec.env, AGENT_TOKEN: spec.token },
    service_group: {
      services: [{ port: 443, destination_port: 8080, handlers: ['tls', 'http'] }],
    },
  };
  const when = calendarTime(Date.now() + spec.ttlMs + afterTtlMs);
  const schedules = [{ name: 'end-of-life', when, action: 'delete' }];
  const tags = [ownTag, tagOf(spec.owner)];
  let made = await api.ask('POST', '/v1/instances', { ...plain, tags, schedules }, signal);
  // Plans without tags or schedules refuse them without creating anything.
  if (made.ok && made.value.status >= 400 && made.value.status < 500) {
    made = await api.ask('POST', '/v1/instances', plain, signal);
  }
  if (!made.ok) return failed(made.error);
  const item = itemOf(made.value, spec.name);
  if (!item.ok) return failed(item.error);
  const { uuid, service_group: group } = item.value;
  if (uuid === undefined) return failed('the platform made an instance without a uuid.');
  const domains = group?.domains ?? (await api.domains(group?.uuid, signal));
  const fqdn = domains[0]?.fqdn.replace(/\.$/, '');
  if (fqdn === undefined) return failed('the platform gave the instance no address.');
  const url = fqdn.includes('://') ? fqdn : `https://${fqdn}`;
  const problem = badAddress(url);
  if (problem !== null) return failed(problem);
  return ok({ name: spec.name, id: uuid, url, token: spec.token });
}

/** Finds it by its uuid or, if that is unknown, by its name among all instances. */
async function destroy(
  api: PlatformApi,
  name: string,
  id: string | null,
): Promise<Result<null, string>> {
  let uuid = id;
  if (uuid === null) {
    const listed = await api.instances();
    if (!listed.ok) return listed;
    uuid = listed.value.find((item) => item.name === name)?.uuid ?? null;
    if (uuid === null) return ok(null);
  }
  const items = [{ uuid }];
  const gone = await api.ask('DELETE', '/v1/instances', items);
  const problem = endProblem(gone, name);
  if (problem === null) return ok(null);
  await api.ask('PUT', '/v1/instances/stop', [{ uuid, force: true }]);
  return err(problem);
}

function endProblem(answer: Result<PlatformAnswer, string>, name: string): string | null {
  if (!answer.ok) return answer.error;
  const { status, envelope } = answer.value;
  if (status === 404 || envelope?.errors?.some((error) => error.status === 404) === true) {
    return null;
  }
  const item = itemOf(answer.value, name);
  return item.ok ? null : item.error;
}

/** In UTC, as the platform's schedules require. */
function calendarTime(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 19).replace('T', ' ');
}

/** The single requested item. A partial success does not count. */
function itemOf(answer: PlatformAnswer, name: string): Result<Item, string> {
  const { envelope, status } = answer;
  const item = envelope?.data?.instances?.[0];
  const isGood =
    status < 300 &&
    envelope?.status === 'success' &&
    (item?.status === undefined || item.status === 'success');
  if (isGood) return ok(item ?? {});
  const said = toSingleLine(item?.message ?? envelope?.message ?? 'no reason');
  return err(`the platform answered ${status} for ${name}: ${said}.`);
}

interface PlatformAnswer {
  readonly status: number;
  readonly envelope: Envelope | null;
}

class PlatformApi {
  /** Set if it cannot be queried; contains the remedy. */
  readonly problem: string | null;
  readonly #base: string;
  readonly #key: string;

  constructor({ metro, key }: UnikraftOptions) {
    const url = metro.includes('://') ? metro : `https://api.${metro}.unikraft.cloud`;
    this.#base = url.replace(/\/+$/, '').replace(/\/v1$/, '');
    this.#key = key ?? '';
    this.problem = key === null || key === '' ? missingKey : badAddress(this.#base);
  }

  async ask(
    method: JsonRequest['method'],
    path: string,
    body?: unknown,
    signal?: AbortSignal,
  ): Promise<Result<PlatformAnswer, string>> {
    const endpoint = { url: this.#base, headers: { authorization: `Bearer ${this.#key}` } };
    const said = await askJson(endpoint, {
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!said.ok) return err(`the platform cannot be reached: ${said.error}.`);
    return ok(read(said.value));
  }

  async instances(): Promise<Result<readonly Item[], string>> {
    const said = await this.ask('GET', '/v1/instances?details=true');
    if (!said.ok) return said;
    const { envelope, status } = said.value;
    if (envelope?.status === 'success') return ok(envelope.data?.instances ?? []);
    return err(
      `the platform answered ${status} and no list: ${toSingleLine(envelope?.message ?? '')}.`,
    );
  }

  async domains(
    group: string | undefined,
    signal: AbortSignal,
  ): Promise<readonly { readonly fqdn: string }[]> {
    if (group === undefined) return [];
    const path = `/v1/services/${encodeURIComponent(group)}`;
    const said = await this.ask('GET', path, undefined, signal);
    const data = said.ok ? said.value.envelope?.data : null;
    return (data?.service_groups ?? data?.services)?.[0]?.domains ?? [];
  }
}

function read({ status, value }: JsonAnswer): PlatformAnswer {
  const envelope = envelopeSchema.safeParse(value);
  return { status, envelope: envelope.success ? envelope.data : null };
}
