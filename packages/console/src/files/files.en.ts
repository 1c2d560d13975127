import type { DocumentPage } from './document-files.ts'

const count = (number: number, one: string, many: string) => (number === 1 ? `1 ${one}` : `${number} ${many}`)

export const filesTexts = {
  title: 'Files',
  add: 'Add files',
  addHelp: 'Choose them, drop them here, or paste them while this panel has the focus.',
  page: 'Put them on the page',
  noPages: 'The document has no page to put a file on.',
  place: { prose: 'at its end', canvas: 'below what is drawn' } satisfies Record<DocumentPage['kind'], string>,
  space: (used: string, quota: string) => `The workspace uses ${used} of ${quota}.`,
  noSpace: (name: string, size: string, left: string) =>
    `${name} has ${size}, and the workspace has ${left} left. Delete documents or files that nobody needs, or ask whoever runs this relay for more space.`,
  empty: (name: string) => `${name} is empty or a folder.`,
  unreadable: (name: string) => `${name} cannot be read. Was it moved?`,
  uploading: (name: string, size: string) => `${name}, ${size}`,
  waiting: 'waits',
  sending: 'on its way',
  cancel: 'Cancel',
  cancelName: (name: string) => `Cancel ${name}`,
  dismiss: 'Close',
  dismissName: (name: string) => `Close the note on ${name}`,
  added: (name: string, page: string) => `${name} is on the page ${page}.`,
  notAdded: (name: string, page: string) => `${name} was not added: the page ${page} is gone, or you cannot change it any more.`,
  readOnly: 'You may read this document, so you can save its files but not add any.',

  none: 'No page of this document uses a file.',
  list: 'Files of this document',
  unknownType: 'unknown type',
  checking: '…',
  lost: 'The relay does not have this file.',
  usedOn: (pages: readonly string[], uses: number) =>
    `on ${pages.join(', ')}${uses > pages.length ? ` (${count(uses, 'time', 'times')})` : ''}`,
  download: 'Save',
  downloadName: (name: string) => `Save ${name} to this device`,
  remove: 'Remove',
  removeName: (name: string) => `Remove ${name} from the document`,
  removeTitle: (name: string) => `Remove ${name}?`,
  removeWords: (uses: number) =>
    `It is taken off ${count(uses, 'place', 'places')} of this document for everybody. The relay deletes the file when no document and no recovery point uses it any more.`,
  removed: (name: string) => `${name} is no longer in this document.`,
}
