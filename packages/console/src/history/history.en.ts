import type { PageChange, ShapeChange } from './document-diff.ts'
import type { BlockChange, Tally } from './block-diff.ts'

const count = (number: number, one: string, many: string) => (number === 1 ? `1 ${one}` : `${number} ${many}`)

export const historyTexts = {
  title: 'History',
  loading: 'Loading …',
  points: 'Recovery points',
  pointsHelp: 'The relay keeps some by itself while people work, and before much is removed.',
  noPoints: 'There is no recovery point yet. The first one comes when somebody leaves the document after a change.',
  capture: 'Keep this state',
  captured: 'This state is kept as a recovery point.',
  notCaptured: 'Nothing changed since the newest recovery point, which already keeps this state.',
  /** Why the relay kept a state. An older relay gives no reason, and then none is shown. */
  reason: {
    interval: 'while people wrote',
    'last-leave': 'everybody had left',
    zeroing: 'before it was emptied',
    removal: 'before an agent removed much',
    restore: 'before a restore',
    demand: 'kept by hand',
  },
  version: (version: number) => `version ${version}`,
  /** For screen readers, before the time of the point. */
  look: 'Look at the state of',

  calls: 'Edits by agents',
  callsHelp: 'What agents wrote. “Undo” takes back one call and leaves what others wrote since.',
  noCalls: 'No agent has written this document yet.',
  moreCalls: 'Earlier ones',
  wrote: (changed: number, removed: number) =>
    [changed > 0 ? `${changed} changed` : '', removed > 0 ? `${removed} removed` : ''].filter((part) => part !== '').join(', ') ||
    'nothing to see',
  undo: 'Undo',
  undoOf: (tool: string, by: string) => `Undo ${tool} of ${by}`,
  undone: 'Undone',
  undidNothing: 'Nothing was undone: all of it was changed since.',
  undid: (changed: number, kept: number) =>
    kept === 0
      ? `Undone: ${count(changed, 'part', 'parts')} of the document.`
      : `Undone: ${count(changed, 'part', 'parts')}. ${count(kept, 'part stays', 'parts stay')}, because somebody changed it since.`,
  you: 'you',

  pointOf: (when: string) => `State of ${when}`,
  pages: 'Pages',
  state: { same: 'no change', changed: 'changed', added: 'new since then', removed: 'removed since then' } satisfies Record<
    PageChange['state'],
    string
  >,
  shown: 'Shown as',
  changes: 'Changes since then',
  sides: 'Side by side',
  former: 'Then',
  present: 'Now',
  notThen: 'This page was not there then.',
  notNow: 'This page is not there any more.',
  noPages: 'This state has no pages.',
  same: 'Nothing changed on this page since then.',
  unchanged: (blocks: number) => count(blocks, 'block', 'blocks') + ' without a change',
  tally: ({ added, removed, changed }: Tally) =>
    [`${added} added`, `${changed} changed`, `${removed} removed`].filter((part) => !part.startsWith('0 ')).join(', '),
  block: { added: 'Added', removed: 'Removed' } satisfies Partial<Record<BlockChange['kind'], string>>,
  part: { added: 'Added', removed: 'Removed', changed: 'Changed' } satisfies Record<ShapeChange['kind'], string>,
  entries: 'Fields and references',
  entryOf: (name: string, before: string | null, after: string | null) =>
    `${name}${before === null && after === null ? '' : ': '}${[before, after].flatMap((text) => (text === null ? [] : `“${text}”`)).join(' → ')}`,
  picture: (alt: string) => (alt === '' ? 'Picture' : `Picture: ${alt}`),
  drawing: (page: string, when: string) => `Drawing of the page ${page}: ${when}`,

  restore: 'Restore this state …',
  restoreTitle: 'Restore this state?',
  restoreWords: (name: string) =>
    `The relay makes a new document, “${name} (Restored)”, of this state. It has an id of its own, and the same people may see and edit it. The document of now is deleted; its last state is kept as a recovery point of the new one. Whoever has it open gets there by itself. Share links end.`,
  restoreNow: 'Restore',
  restored: 'Restored. The new document opens.',
  restoreNeedsOwner: 'Only an owner can restore.',
}
