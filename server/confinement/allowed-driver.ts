// A driver that starts its agent only if this machine's policies allow the kind.

import type { AgentDriver } from '../agents/port.ts';
import { readPolicies } from '../project/policy-files.ts';
import { whyNoAgent } from '../core/settings/policy.ts';

export function allowedDriver(driver: AgentDriver): AgentDriver {
  const whyNot = async (): Promise<string | null> => whyNoAgent(await readPolicies(), driver.kind);
  return {
    ...driver,
    probe: async (env) => {
      const message = await whyNot();
      return message === null ? driver.probe(env) : { ok: false, version: null, message };
    },
    run: async (request, host, signal) => {
      const message = await whyNot();
      if (message === null) return driver.run(request, host, signal);
      return { kind: 'failed', failure: { kind: 'agent_missing', retryable: false, message } };
    },
  };
}
