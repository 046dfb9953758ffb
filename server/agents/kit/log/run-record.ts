// The output of one run of an agent: its masked events, stored in the log and sent to the engine.

import { openEventLog, type EventLog } from './event-log.ts';
import { createMask, maskDeep, type Mask } from './masking.ts';
import type { AgentHost, AgentRequest } from '../../port.ts';
import type { AgentEvent } from '../../../protocol/agent-events.ts';
import { runFiles, type RunFiles } from './run-files.ts';

export interface RunRecord {
  readonly log: EventLog;
  readonly files: RunFiles;
  readonly mask: Mask;
  /** Masks an event, stores it and sends it. */
  emit(event: AgentEvent): void;
  close(): Promise<void>;
}

export function openRunRecord(request: AgentRequest, host: AgentHost): RunRecord {
  const log = openEventLog(request.logPath, { maxBytes: request.maxOutputBytes });
  const mask = createMask(request.secrets);
  const emit = (event: AgentEvent): void => {
    const masked = maskDeep(event, mask);
    log.append(masked);
    host.onEvent(masked);
  };
  const offNote = host.onNote?.((text) => emit({ type: 'note', level: 'info', text }));
  return {
    log,
    files: runFiles(request.logPath),
    mask,
    emit,
    close: () => {
      offNote?.();
      return log.close();
    },
  };
}
