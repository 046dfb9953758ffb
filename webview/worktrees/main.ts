// The page of the worktrees and their space.

import { connectHost } from '../shared/host.ts';
import { DroverWorktrees } from './drover-worktrees.ts';

const worktrees = new DroverWorktrees();
worktrees.host = connectHost();
document.body.append(worktrees);
