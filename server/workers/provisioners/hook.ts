// Workers created by a script of the project, so that any cloud needs only a few lines of shell:
// `script create|destroy|list`, with JSON on its input and output.

import * as z from 'zod';
import { err, ok, type Result } from '../../core/failure.ts';
import { badAddress, toSingleLine } from '../client/request.ts';
import type { InstanceRef, Provisioner } from './port.ts';
import { runProgram } from './run-program.ts';

export interface HookOptions {
  /** Full path of the script. Null if the settings name none. */
  readonly script: string | null;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const createdSchema = z.object({
  id: z.string().min(1).max(500),
  url: z.string().max(2_000),
  /** Set if the instance has its own token. */
  token: z.string().min(1).max(4_000).optional(),
});
const listedSchema = z.array(
  z.object({ name: z.string().max(200), id: z.string().max(500).nullable().optional() }),
);

class HookScript {
  readonly #options: HookOptions;
  /** Workers that a list has named, because only such a hook's list can tell that one is gone. */
  readonly #isListed = new Set<string>();

  constructor(options: HookOptions) {
    this.#options = options;
  }

  async call(
    verb: 'create' | 'destroy' | 'list',
    input: unknown,
    signal?: AbortSignal,
  ): Promise<Result<unknown, string>> {
    const { script, cwd, env, timeoutMs } = this.#options;
    if (script === null) return err('set [remote] hook to the script that makes workers.');
    const said = await runProgram({
      program: script,
      args: [verb],
      env,
      cwd,
      input: JSON.stringify(input),
      timeoutMs,
      ...(signal === undefined ? {} : { signal }),
    });
    if (!said.ok) return said;
    if (said.value.trim() === '') return ok(null);
    try {
      return ok(JSON.parse(said.value));
    } catch {
      return err(`the hook's ${verb} printed no JSON: ${toSingleLine(said.value)}.`);
    }
  }

  async list(owner: string): Promise<Result<readonly InstanceRef[], string>> {
    const said = await this.call('list', { owner });
    if (!said.ok) return said;
    const listed = listedSchema.safeParse(said.value ?? []);
    if (!listed.success) return err('the hook\'s list must print [{"name":"…","id":"…"}].');
    for (const { name } of listed.data) this.#isListed.add(name);
    return ok(listed.data.map(({ name, id }) => ({ name, id: id ?? null })));
  }

  /** Whether the list named this worker before and no longer does. */
  async hasDropped(name: string, owner: string): Promise<boolean> {
    if (!this.#isListed.has(name)) return false;
    const listed = await this.list(owner);
    return listed.ok && !listed.value.some((one) => one.name === name);
  }
}

export function createHookProvisioner(options: HookOptions): Provisioner {
  const script = new HookScript(options);
  /** Empty after a restart. A worker that is lost then is given up when its time is over. */
  const owners = new Map<string, string>();
  return {
    kind: 'hook',
    capabilities: { env: true, list: true, foreignPaths: true },
    create: async (spec, signal) => {
      const { name, owner, token, env, image, ttlMs } = spec;
      const input = { name, owner, token, env, image, ttl_seconds: Math.ceil(ttlMs / 1000) };
      const failed = (message: string) => err({ message, isCertain: options.script === null });
      const said = await script.call('create', input, signal);
      if (!said.ok) return failed(said.error);
      const created = createdSchema.safeParse(said.value);
      if (!created.success) {
        return failed('the hook\'s create must print {"id":"…","url":"https://…"}.');
      }
      const { id, url, token: own = token } = created.data;
      const problem = badAddress(url);
      if (problem !== null) return failed(problem);
      owners.set(name, owner);
      void script.list(owner);
      return ok({ name, id, url, token: own });
    },
    isGone: async ({ name }) => {
      const owner = owners.get(name);
      return owner !== undefined && (await script.hasDropped(name, owner));
    },
    destroy: async ({ name, id }) => {
      const said = await script.call('destroy', { name, id });
      return said.ok ? ok(null) : said;
    },
    list: (owner) => script.list(owner),
  };
}
