// The grid with 16 agents that write 1,000 lines a second each.

import { DroverGrid } from '../../../../webview/grid/drover-grid.ts';
import { floodHost } from './flood-host.ts';

const grid = new DroverGrid();
grid.host = floodHost({ agents: 16, linesPerSecond: 1_000, linesBefore: 100_000 });
document.body.append(grid);
