// Plans a design for a panel, one at a time. The user can cancel it.

import { Refusal } from '../core/failure.ts';
import type { Handlers } from '../protocol/api.ts';
import type { Project } from '../project/opened-project.ts';

export function specHandlers(project: Project): Pick<Handlers, 'spec.plan' | 'spec.cancel'> {
  let atWork: AbortController | null = null;
  return {
    'spec.plan': async ({ documents, model }) => {
      if (atWork !== null) {
        throw new Refusal('busy', 'A design is already being planned. Wait for it, or cancel it.');
      }
      const control = new AbortController();
      atWork = control;
      try {
        // Loaded on demand, because its library is large and few commands need it.
        const { planFromSpec } = await import('./plan-from-spec.ts');
        const planned = await planFromSpec({
          documents: Object.entries(documents).map(([name, text]) => ({ name, text })),
          model: model ?? null,
          one_epic: false,
          root: project.places.root,
          env: project.live.environment,
          signal: control.signal,
          onNote: () => {},
        });
        if (planned.ok) return planned.value;
        throw new Refusal('model', planned.error.message);
      } finally {
        atWork = null;
      }
    },
    'spec.cancel': () => {
      const cancelled = atWork !== null;
      atWork?.abort();
      return Promise.resolve({ cancelled });
    },
  };
}
