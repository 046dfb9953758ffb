// The page of the task tree.

import { connectHost } from '../shared/host.ts';
import { DroverTree } from './drover-tree.ts';

const tree = new DroverTree();
tree.host = connectHost();
document.body.append(tree);
