// The width of any text. A separate program in the bundles: its Unicode tables are built when it is
// loaded, which takes longer than the rest of a command, and few texts need them.

export { default as stringWidth } from 'string-width';
