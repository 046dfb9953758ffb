// The page of the inbox.

import { connectHost } from '../shared/host.ts';
import { DroverInbox } from './drover-inbox.ts';

const inbox = new DroverInbox();
inbox.host = connectHost();
document.body.append(inbox);
