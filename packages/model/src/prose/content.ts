import type { Stamp } from '../stamps/stamp.ts'
import { refused, type Fix, type Refusal, type Warning } from '../edit.ts'
import { maxLabelLength, settleChips, type Libraries } from './chips.ts'
import { stampLikeIds, withKnownIds } from './content-ids.ts'
import { isEmptyPage } from './equal.ts'
import { parseHtml } from './html.ts'
import { needlessArgument } from '../needless.ts'
import { linksIn } from './link-targets.ts'
import { literalMarkup } from './literal-markup.ts'
import { parseMarkdown } from './markdown-read.ts'
import { isOwnHtml, markdownInHtml } from './own-html.ts'
import { emptyParagraph, type ProseTree } from './node.ts'

/** Prose content as a call sends it. */
export interface ContentArgs {
  readonly content: string
  /** The format of the content. When absent, Markdown, unless the content is its own canonical HTML. [AG-35] */
  readonly format?: 'markdown' | 'md' | 'html' | undefined
}

/** Content of a call, read as a page. */
export interface Content {
  readonly tree: ProseTree
  /** True when the content has no block at all; the tree is then one empty paragraph. */
  readonly isBlank: boolean
  readonly fixes: readonly Fix[]
  readonly warnings: readonly Warning[]
  /** `html` when the call gave no format and the content was read as HTML; else absent. [AG-35] */
  readonly format?: 'html'
  /** The stamps that the ids in the content carried, by id: which version of a block the caller had seen. [AG-16, AG-25] */
  readonly stamps: ReadonlyMap<string, Stamp>
  /** The links in the content to documents of the relay, and its relative links. [AG-84, AG-85] */
  readonly links: readonly string[]
}

/** Refuses a call that gives a format but no content. [AG-33] */
export function formatFlaw(
  args: { readonly format?: ContentArgs['format'] } & { readonly [name in 'content' | 'body']?: string | undefined },
  name: 'content' | 'body',
): Refusal | null {
  if (args.format === undefined || args[name] !== undefined) return null
  return needlessArgument('format', `it is the format of ${name}, and none came`, `${name} beside it`)
}

/** Returns the member `format` of an answer: present when the call gave no format and its content was read as HTML. [AG-35] */
export function formatOf({ format }: Content): Pick<Content, 'format'> {
  return format === undefined ? {} : { format }
}

/** The content of a call that sent no content. */
export const noContent: Content = { tree: [], isBlank: true, fixes: [], warnings: [], stamps: new Map(), links: [] }

export const maxContentBytes = 1_048_576

/**
 * Returns why content is too large to be read; `null` when it is not. Checked before anything that depends on the
 * document. [PROSE-21]
 */
export function contentTooLarge(content: string): Refusal | null {
  if (content.length * 3 <= maxContentBytes) return null
  const bytes = new TextEncoder().encode(content).length
  if (bytes <= maxContentBytes) return null
  return refused('ERR_PROSE_TOO_LARGE', `The content has ${bytes} bytes; one call takes at most ${maxContentBytes}. Split it.`, {
    bytes,
    maxBytes: maxContentBytes,
  })
}

function labelsTooLong(labelLength: number): Refusal | null {
  if (labelLength <= maxLabelLength) return null
  const message = `The chips of the content would show ${labelLength} characters of field values; one call takes at most ${maxLabelLength}. Write fewer chips, or shorten the fields.`
  return refused('ERR_PROSE_TOO_LARGE', message, { bytes: labelLength, maxBytes: maxLabelLength })
}

/**
 * Reads the content of a call in either format. [PROSE-10 to PROSE-37] `stored` is the page that the content replaces. Blocks that equal a stored block cause
 * no warnings of markup. With `stored`, the tree may have ids of foreign form until the caller merges it with the page (`withKnownIds`).
 */
export function readContent(args: ContentArgs, libraries: Libraries, stored: ProseTree = []): Content | Refusal {
  const tooLarge = contentTooLarge(args.content)
  if (tooLarge !== null) return tooLarge
  const isOwn = args.format === undefined && isOwnHtml(args.content)
  const isHtml = isOwn || args.format === 'html'
  const wholeIds = stampLikeIds(stored)
  const markdown = isHtml ? null : parseMarkdown(args.content, wholeIds)
  const read = markdown ?? parseHtml(args.content, { source: 'call', wholeIds })
  const { fixes, stamps = noContent.stamps } = read
  const named = stored.length === 0 ? withKnownIds(read.tree, stored) : read.tree
  const { tree, labelLength, warnings: ofChips } = settleChips(named, libraries)
  const ofText = isOwn ? markdownInHtml(tree) : markdown === null ? [] : literalMarkup(tree, stored, args.content, markdown.read)
  const warnings = [...ofChips, ...ofText]
  const tooLong = labelsTooLong(labelLength)
  if (tooLong !== null) return tooLong
  const told = { fixes, warnings, stamps, links: linksIn(tree), ...(isOwn && { format: 'html' as const }) }
  if (!isEmptyPage(tree)) return { tree, isBlank: false, ...told }
  // Content without a block and a written empty paragraph give the same tree. Only a `<p>` in the content tells them apart.
  const isBlank = !/<p[\s/>]/i.test(args.content)
  return { tree: [emptyParagraph()], isBlank, ...told }
}
