// The page of the grid of all agents.

import { connectHost } from '../shared/host.ts';
import { DroverGrid } from './drover-grid.ts';

const grid = new DroverGrid();
grid.host = connectHost();
document.body.append(grid);
