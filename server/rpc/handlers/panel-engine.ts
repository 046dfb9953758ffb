// The requests of panels that need the engine.

import { Refusal } from '../../core/failure.ts';
import type { Handlers } from '../../protocol/api.ts';
import type { EngineHandlerDeps } from './engine.ts';

export type PanelEngineRequests =
  | 'preflight'
  | 'task.take_over'
  | 'task.give_back'
  | 'landing.undo'
  | 'backend.leave';

export function panelEngineHandlers(deps: EngineHandlerDeps): Pick<Handlers, PanelEngineRequests> {
  const later = async (): Promise<never> => {
    throw new Refusal('not_yet', 'This backend can not do that yet.');
  };
  return {
    preflight: later,
    'task.take_over': later,
    'task.give_back': later,
    'landing.undo': later,
    'backend.leave': ({ force }) => deps.shutdown(force === true),
  };
}
