import { appTexts } from './app/app.en.ts'
import { controlTexts } from './controls/controls.en.ts'
import { documentTexts } from './document/document.en.ts'
import { documentsTexts } from './documents/documents.en.ts'
import { filesTexts } from './files/files.en.ts'
import { historyTexts } from './history/history.en.ts'
import { canvasTexts } from './canvas/canvas.en.ts'
import { shareTexts } from './share/share.en.ts'
import { usageTexts } from './usage/usage.en.ts'
import { sharingTexts } from './sharing/sharing.en.ts'

// Every text that a person reads in the console, by feature. A text that needs a value is a function of it.

const bytes = new Intl.NumberFormat('en', { notation: 'compact', style: 'unit', unit: 'byte', unitDisplay: 'narrow' })

export const messages = {
  app: appTexts,
  controls: controlTexts,
  documents: documentsTexts,
  document: documentTexts,
  prose: {
    page: 'Text of the page',
    help: 'Tab indents in lists and goes from cell to cell in tables; Escape and then Tab leaves the text. Control Enter ticks a task. Alt F10 goes to the tools.',
    toolbar: 'Tools for the text',
    tableToolbar: 'Tools for the table',
    calloutToolbar: 'Kind of the callout',
    apply: 'Apply',
    cancel: 'Cancel',
    close: 'Close',
    somebody: 'somebody',
    following: (name: string) => `You see what ${name} sees.`,
    stopFollowing: 'Stop following',
    downloadFailed: (why: string) => `The file was not downloaded: ${why}`,
    readOnlyTitle: 'This page can only be read here.',
    readOnlyReason: 'It holds something that this editor does not know and would delete for everybody. Nothing of it is changed.',
    moreProblems: (count: number) => `and ${count} more`,
    problem: {
      node: (name: string) => `An unknown block or element: ${name}`,
      mark: (name: string) => `An unknown way to mark text: ${name}`,
      attribute: (name: string, inside: string) => `An unknown property “${name}” of ${inside}`,
      content: (name: string, inside: string) =>
        name === inside ? `A block with content that it cannot have: ${name}` : `A block where it cannot be: ${name}`,
    },
    variants: { note: 'Note', tip: 'Tip', warning: 'Warning', danger: 'Danger' },
    tools: {
      undo: 'Undo',
      redo: 'Redo',
      paragraph: 'Paragraph',
      heading: (level: number) => `Heading ${level}`,
      bold: 'Bold',
      italic: 'Italic',
      strike: 'Strikethrough',
      code: 'Code',
      link: 'Link',
      bulletList: 'Bulleted list',
      orderedList: 'Numbered list',
      taskList: 'Task list',
      quote: 'Quote',
      callout: 'Callout',
      codeBlock: 'Code block',
      table: 'Table',
      image: 'Image or file',
      formula: 'Formula',
      field: 'Field',
      citation: 'Citation',
      rule: 'Dividing line',
      rowBefore: 'Row above',
      rowAfter: 'Row below',
      deleteRow: 'Delete row',
      columnBefore: 'Column before',
      columnAfter: 'Column after',
      deleteColumn: 'Delete column',
      headerRow: 'Heading row',
      mergeCells: 'Merge cells',
      splitCell: 'Split cell',
      deleteTable: 'Delete table',
    },
    chips: {
      formula: 'Formula in LaTeX',
      emptyFormula: 'Empty formula',
      field: (name: string) => `Field ${name}`,
      unknownReference: (id: string) => `The document has no reference ${id}`,
      file: 'File',
      download: 'Download',
      bibliography: 'Bibliography',
      group: (name: string) => `Drawing ${name}`,
    },
    forms: {
      newLink: 'Link',
      changeLink: 'Change the link',
      href: 'Address',
      linkText: 'Text',
      badHref: 'An address is https://…, mailto:… or relay://doc/….',
      removeLink: 'Remove the link',
      remove: 'Remove',
      newFormula: 'Formula',
      changeFormula: 'Change the formula',
      latex: 'LaTeX',
      place: 'Place',
      inline: 'In the text',
      ownLine: 'On a line of its own',
      newField: 'Field',
      changeField: (name: string) => `Field ${name}`,
      fieldName: 'Name',
      fieldValue: 'Value, everywhere in the document',
      needsName: 'A field has a name.',
      newCitation: 'Citation',
      changeCitation: 'Change the citation',
      reference: 'Reference',
      locator: 'Place in it, such as p. 12',
      image: 'Image',
      alt: 'What is to be seen, for people who do not see it',
    },
    uploads: {
      unnamed: 'Image',
      running: (name: string, size: number) => `Storing ${name}, ${bytes.format(size)} …`,
      done: (name: string) => `${name} is stored.`,
      notAdded: 'It was not added: the page is gone, or you cannot change it any more.',
    },
    agents: {
      changed: (name: string, count: number) =>
        `${name} changed ${count === 0 ? 'this page' : count === 1 ? '1 block' : `${count} blocks`}.`,
      undo: 'Undo this',
      undoing: (name: string) => `Undoing what ${name} changed …`,
      undone: (name: string, changed: number, keptCount: number, kept: readonly string[]) => {
        if (keptCount === 0) return `What ${name} changed is undone.`
        const rest = `${keptCount === 1 ? '1 change stays' : `${keptCount} changes stay`}, because somebody edited there since`
        const words = kept[0] === undefined || kept[0] === '' ? '.' : `: “${kept[0].slice(0, 60)}”.`
        return `${changed === 0 ? 'Nothing is undone' : `What ${name} changed is undone in part`}: ${rest}${words}`
      },
      notUndoable: 'This was undone already, or cannot be undone any more.',
      failed: (why: string) => `It was not undone: ${why}`,
    },
    outline: {
      title: 'Outline',
      empty: 'This page has no headings.',
      noPage: 'Only pages of text have an outline.',
      unnamed: 'Heading without text',
    },
  },
  canvas: canvasTexts,
  history: historyTexts,
  sharing: sharingTexts,
  share: shareTexts,
  files: filesTexts,
  usage: usageTexts,
}
