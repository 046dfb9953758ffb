// A machine of a fleet with sensible values, so that a test names only its subject.

import type { MachineView } from '../../server/protocol/api.ts';

export function machineView(machine: Partial<MachineView> = {}): MachineView {
  return {
    id: '0123456789ab',
    name: 'atlas',
    state: 'working',
    labels: [],
    agents: 0,
    agents_max: 3,
    room: 3,
    lands: true,
    version: '2.0.0',
    note: null,
    joined_at: 1_700_000_000,
    heard_at: 1_700_000_100,
    heard_ago_ms: 1_500,
    ...machine,
  };
}
