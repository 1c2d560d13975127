import { DOMParser, type ParseRule } from 'prosemirror-model'
import { dropPastedStyle, PASTED_STYLE, pastedStyle } from './pasted-html.ts'
import { proseSchema } from './prose-schema.ts'

/** The style properties that the rules below and ProseMirror's parser read. */
const READ_STYLES = ['font-weight', 'font-style', 'text-decoration', 'text-decoration-line', 'vertical-align', 'white-space']
/** Default text colours of other editors. If they were kept, the text would be black on black in a dark page. */
const NO_COLOUR = /^(black|windowtext|#000|#000000|rgb\(0, ?0, ?0\))$/i

const hasWord = (word: string) => (value: string) => value.split(/\s+/).includes(word) && null

/** Marks by style, for editors that copy no `<b>` or `<i>`. */
const STYLE_RULES: readonly ParseRule[] = [
  { style: 'font-weight', mark: 'bold', getAttrs: (value) => /^(bold(er)?|[6-9]\d\d)$/.test(value) && null },
  {
    style: 'font-weight',
    clearMark: ({ type }) => type.name === 'bold',
    getAttrs: (value) => /^(normal|400)$/.test(value) && null,
  },
  { style: 'font-style', mark: 'italic', getAttrs: (value) => /^(italic|oblique)/.test(value) && null },
  { style: 'font-style=normal', clearMark: ({ type }) => type.name === 'italic' },
  { style: 'text-decoration-line', mark: 'underline', consuming: false, getAttrs: hasWord('underline') },
  { style: 'text-decoration-line', mark: 'strike', consuming: false, getAttrs: hasWord('line-through') },
  { style: 'vertical-align=super', mark: 'superscript' },
  { style: 'vertical-align=sub', mark: 'subscript' },
]

/** Parses pasted HTML. HTML from a page of this schema is read as it is; HTML from Word, Google Docs and others is converted first. */
class ClipboardParser extends DOMParser {
  override parseSlice(...[dom, options]: Parameters<DOMParser['parseSlice']>): ReturnType<DOMParser['parseSlice']> {
    const root = dom as Element
    if (root.querySelector('[data-pm-slice]') === null) {
      restoreStyles(root)
      readCheckboxes(root)
      readWordLists(root)
    }
    return super.parseSlice(dom, options)
  }
}

export const clipboardParser = new ClipboardParser(proseSchema, [...DOMParser.fromSchema(proseSchema).rules, ...STYLE_RULES])

/** Restores the styles of pasted elements through the style object, which a strict Content-Security-Policy allows. */
function restoreStyles(root: Element): void {
  for (const element of root.querySelectorAll<HTMLElement>(`[${PASTED_STYLE}]`)) {
    for (const property of READ_STYLES) {
      const value = pastedStyle(element, property)
      if (value !== '') element.style.setProperty(property, value)
    }
    // The page itself makes headings bold, and links underlined and coloured.
    if (element.closest('h1, h2, h3, h4, h5, h6, th') !== null) element.style.removeProperty('font-weight')
    const isLink = element.closest('a') !== null
    if (isLink) element.style.removeProperty('text-decoration')
    if (isLink || NO_COLOUR.test(pastedStyle(element, 'color'))) dropPastedStyle(element, 'color')
  }
}

/** Converts tasks from Google Docs, which copies each as a list item with `role="checkbox"` and an image of the box. */
function readCheckboxes(root: Element): void {
  for (const item of root.querySelectorAll('li[role="checkbox"]')) {
    item.querySelector(':scope > img')?.remove()
    item.setAttribute('data-type', 'taskItem')
    item.setAttribute('data-checked', String(item.getAttribute('aria-checked') === 'true'))
    item.parentElement?.setAttribute('data-type', 'taskList')
  }
}

/** Converts lists from Word, which copies items as paragraphs: the level is in the style, the bullet or number in the text. */
function readWordLists(root: Element): void {
  let open: { readonly list: Element; readonly level: number }[] = []
  for (const paragraph of root.querySelectorAll('p')) {
    const level = Number(/\bl\d+ level(\d+)/i.exec(pastedStyle(paragraph, 'mso-list'))?.[1] ?? 0)
    if (level === 0) continue
    // Any element between two paragraphs ends the list.
    const goesOn = open.length > 0 && paragraph.previousElementSibling === open[0]?.list
    open = goesOn ? open.filter((each) => each.level <= level) : []
    const tag = takeMarker(paragraph)
    if (open.at(-1)?.level !== level) {
      const list = document.createElement(tag)
      const parent = open.at(-1)?.list.lastElementChild
      if (parent == null) paragraph.before(list)
      else parent.append(list)
      open.push({ list, level })
    }
    const item = document.createElement('li')
    open.at(-1)?.list.append(item)
    item.append(paragraph)
  }
}

/** Removes the bullet or number from the text of an item, and returns the tag for that kind of list. */
function takeMarker(paragraph: Element): 'ol' | 'ul' {
  const marker = [...paragraph.querySelectorAll('span')].find((span) => /^ignore$/i.test(pastedStyle(span, 'mso-list')))
  const text = marker?.textContent?.trim() ?? ''
  marker?.remove()
  return /^\(?[0-9a-z]{1,5}[.)]/i.test(text) ? 'ol' : 'ul'
}
