import { shareTexts } from './share/share.en.ts'

// Every text that a person reads in the console, by feature. A text that needs a value is a function of it.

const bytes = new Intl.NumberFormat('en', { notation: 'compact', style: 'unit', unit: 'byte', unitDisplay: 'narrow' })

export const messages = {
  app: {
    name: 'Docrelay',
    signingIn: 'Signing in …',
  },
  documents: {
    title: 'Documents',
  },
  document: {},
  prose: {},
  canvas: {},
  history: {
    title: 'History',
  },
  sharing: {
    title: 'Sharing',
  },
  share: shareTexts,
  files: {
    title: 'Files',
    size: (count: number) => bytes.format(count),
  },
  usage: {
    title: 'Usage',
  },
}
