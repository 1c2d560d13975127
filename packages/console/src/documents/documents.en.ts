const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
const moment = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

/** Formats how long ago `ms` was at `now`: minutes and hours up to a day, then days up to a week, then the date. */
function ago(ms: number, now: number): string {
  const minutes = Math.round((ms - now) / 60_000)
  if (minutes > -1) return 'just now'
  if (minutes > -60) return relative.format(minutes, 'minute')
  if (minutes > -1_440) return relative.format(Math.round(minutes / 60), 'hour')
  if (minutes > -10_080) return relative.format(Math.round(minutes / 1_440), 'day')
  return day.format(ms)
}

/** Texts of the list of documents. */
export const documentsTexts = {
  title: 'Documents',
  loading: 'Loading documents …',
  search: 'Search titles and texts',
  all: 'All documents',
  collection: 'Collection',
  noCollection: 'In no collection',
  newCollection: 'A new collection …',
  newCollectionName: 'Name of the collection',
  move: 'Move to a collection',
  moveTitle: (name: string) => `Where does “${name}” belong?`,
  moveAction: 'Move',
  moved: 'The document was moved.',
  renameCollection: 'Rename this collection',
  removeCollection: 'Remove this collection',
  removeCollectionTitle: (name: string) => `Remove the collection “${name}”?`,
  removeCollectionText: 'Its documents stay; they are in no collection then.',
  create: 'New document',
  name: 'Name',
  createAction: 'Create',
  namelessTitle: 'Untitled',
  none: 'No documents yet',
  noneText: 'Make the first one. Everybody of the workspace to whom you give it can write in it with you.',
  noneFound: (q: string) => `Nothing is named “${q}”`,
  noneInCollection: 'Nothing is in this collection',
  failed: (reason: string) => `The documents could not be loaded: ${reason}`,
  more: 'Show more',
  hits: 'In texts',
  hitsPartial: 'No text has all of these words. These have some of them.',
  hitPlace: (name: string, section: string | undefined) => (section === undefined ? name : `${name} – ${section}`),
  changed: (ms: number, now: number) => `Changed ${ago(ms, now)}`,
  changedAt: (ms: number) => moment.format(ms),
  owner: (name: string, own: boolean) => (own ? 'Yours' : `Of ${name}`),
  access: { view: 'Read only', edit: '', owner: '' },
  pages: (count: number) => (count === 1 ? '1 page' : `${count} pages`),
  found: (count: number) => (count === 1 ? '1 document' : `${count} documents`),
  actions: (name: string) => `Actions for ${name}`,
  rename: 'Rename',
  renameTitle: (name: string) => `Rename “${name}”`,
  remove: 'Delete',
  removeTitle: (name: string) => `Delete “${name}”?`,
  removeText: 'It disappears for everybody who has it, with its recovery points. Only a backup of the relay has it then.',
  removed: (name: string) => `“${name}” was deleted.`,
}
