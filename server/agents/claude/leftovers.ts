// Output that an earlier process of the same run printed after its backend had died. Written to the
// log once.

import type { AgentRequest } from '../port.ts';
import type { Usage } from '../../protocol/agent-events.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { Translator } from './translate.ts';
import { parseLine } from '../kit/wire/json-line.ts';

export interface LeftoverLines {
  readonly takeLine: (stream: OutputStream, line: string) => void;
  /** Ids of the messages that the process had taken into a turn. */
  readonly deliveredMessages: ReadonlySet<string>;
}

/** Questions in it are obsolete, because the process that asked has ended. */
export function takeLeftoverLines(
  record: RunRecord,
  request: AgentRequest,
  usageBefore: Usage,
): LeftoverLines {
  const translator = new Translator({
    cwd: request.cwd,
    sessionId: request.sessionId,
    resumed: request.resume,
    usageBefore,
  });
  const deliveredMessages = new Set<string>();
  return {
    deliveredMessages,
    takeLine: (stream, line) => {
      const parsed = stream === 'stdout' ? parseLine(line) : null;
      if (parsed === null) {
        record.emit({ type: 'output', stream, text: line });
        return;
      }
      for (const notice of translator.take(parsed)) {
        if (notice.kind === 'event') record.emit(notice.event);
        if (notice.kind === 'message_state' && notice.state !== 'queued') {
          deliveredMessages.add(notice.uuid);
        }
      }
    },
  };
}
