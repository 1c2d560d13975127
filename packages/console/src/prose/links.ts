import { markSpecs } from '@docrelay/model/prose/schema'
import { readRelayLink } from '@docrelay/model/prose/relay-links'
import { Plugin } from 'prosemirror-state'
import type { Route } from '../app/route.ts'
import { markType } from './node-types.ts'

/** Returns the stored form of a link; `null` for an address that a page may not contain. */
export function storedHref(text: string): string | null {
  const written = text.trim()
  // People often type a web address without its scheme.
  const address = /^[\w-]+(\.[\w-]+)+([/?#]|$)/.test(written) ? `https://${written}` : written
  const value = markSpecs.find(({ type }) => type === 'link')?.attr?.read(address)
  return typeof value === 'string' ? value : null
}

/** Opens the target of a link: a document of the relay in this page, anything else in a tab of its own. */
export function followLink(href: string, go: (route: Route) => void): void {
  const link = readRelayLink(href)
  if (link !== null) return go({ view: 'document', id: link.docId, pageId: link.pageId ?? null, panel: null })
  const stored = storedHref(href)
  if (stored !== null && /^(https?|mailto|tel):/i.test(stored)) window.open(stored, '_blank', 'noopener,noreferrer')
}

/** Follows a link on a click with Ctrl or Cmd, and on every click in a page that cannot be edited. Links the selected words to a pasted address. */
export function links(go: (route: Route) => void): Plugin {
  return new Plugin({
    props: {
      handleDOMEvents: {
        click(view, event) {
          const target = event.target instanceof Element ? event.target.closest('a[href]') : null
          if (target === null) return false
          // The browser must not follow the link and leave the page itself.
          event.preventDefault()
          if (!view.editable || event.ctrlKey || event.metaKey) followLink(target.getAttribute('href') ?? '', go)
          return true
        },
      },
    },
  })
}

export function pastedLinks(): Plugin {
  return new Plugin({
    props: {
      handlePaste(view, event) {
        const text = event.clipboardData?.getData('text/plain').trim() ?? ''
        const { selection, tr } = view.state
        if (selection.empty || !/^(https?|relay):\/\/\S+$/i.test(text) || !selection.$from.sameParent(selection.$to)) return false
        const href = storedHref(text)
        if (href === null || !selection.$from.parent.type.allowsMarkType(markType('link'))) return false
        view.dispatch(tr.addMark(selection.from, selection.to, markType('link').create({ href })))
        return true
      },
    },
  })
}
