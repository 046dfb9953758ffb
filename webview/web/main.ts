// The page of `drover web`.

import { DroverDesk } from './drover-desk.ts';

document.body.append(new DroverDesk());
if ('serviceWorker' in navigator) void navigator.serviceWorker.register('worker.js');
