// The page of the board.

import { connectHost } from '../shared/host.ts';
import { DroverBoard } from './drover-board.ts';

const board = new DroverBoard();
board.host = connectHost();
document.body.append(board);
