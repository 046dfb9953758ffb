// The data for both views of a board: the graph and the Kanban columns.

import { LitElement, type PropertyDeclarations } from 'lit';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { Host } from '../shared/host.ts';
import type { BoardPlan } from './board-plan.ts';

export abstract class BoardContent extends LitElement {
  static override properties: PropertyDeclarations = {
    host: { attribute: false },
    plan: { attribute: false },
    board: { attribute: false },
    epic: { attribute: false },
  };
  declare host: Host | null;
  declare plan: BoardPlan | null;
  declare board: StatusSnapshot | null;
  declare epic: string | null;

  constructor() {
    super();
    this.host = null;
    this.plan = null;
    this.board = null;
    this.epic = null;
  }
}
