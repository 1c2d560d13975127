import Markdown, { type MarkdownIt, type StateBlock, type StateInline, type Token } from 'markdown-it'

type Nesting = Token['nesting']

/**
 * A token with plain fields. The library's class defines its fields one by one, which costs more time than the rules that create tokens.
 */
class PlainToken {
  type: string
  tag: string
  attrs: Token['attrs'] = null
  map: Token['map'] = null
  nesting: Nesting
  level = 0
  children: Token['children'] = null
  content = ''
  markup = ''
  info = ''
  meta: Token['meta'] = null
  block = false
  hidden = false

  constructor(type: string, tag: string, nesting: Nesting) {
    this.type = type
    this.tag = tag
    this.nesting = nesting
  }
}

/** Makes a parser use plain tokens. [PROSE-21] */
export function usePlainTokens({ block, inline }: MarkdownIt): void {
  Object.setPrototypeOf(PlainToken.prototype, Markdown.Token.prototype as object)
  block.State = PlainBlockState
  inline.State = PlainInlineState
}

function createToken(type: string, tag: string, nesting: Nesting): Token {
  // The prototype of `PlainToken` provides the methods of a token.
  return new PlainToken(type, tag, nesting) as unknown as Token
}

/** Returns the tokens of a line without markup. */
export function plainText(text: string): readonly Token[] {
  if (text === '') return []
  const token = createToken('text', '', 0)
  token.content = text
  return [token]
}

class PlainBlockState extends Markdown.StateBlock {
  override push(...[type, tag, nesting]: Parameters<StateBlock['push']>): Token {
    const token = createToken(type, tag, nesting)
    token.block = true
    if (nesting < 0) this.level--
    token.level = this.level
    if (nesting > 0) this.level++
    this.tokens.push(token)
    return token
  }
}

class PlainInlineState extends Markdown.StateInline {
  override pushPending(): Token {
    const token = createToken('text', '', 0)
    token.content = this.pending
    token.level = this.pendingLevel
    this.tokens.push(token)
    this.pending = ''
    return token
  }

  override push(...[type, tag, nesting]: Parameters<StateInline['push']>): Token {
    if (this.pending !== '') this.pushPending()
    const token = createToken(type, tag, nesting)
    if (nesting < 0) {
      this.level--
      this.delimiters = this._prev_delimiters.pop() ?? []
    }
    token.level = this.level
    // Delimiters inside a link are matched separately from those outside.
    if (nesting > 0) {
      this.level++
      this._prev_delimiters.push(this.delimiters)
      this.delimiters = []
    }
    this.pendingLevel = this.level
    this.tokens.push(token)
    this.tokens_meta.push(nesting > 0 ? { delimiters: this.delimiters } : undefined)
    return token
  }
}
