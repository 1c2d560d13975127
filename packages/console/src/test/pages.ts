import type { Locator, Page } from 'playwright-core'

/** A document with one text page. */
export function minutes(content = '<p>Present: Ann</p>') {
  return { name: 'Weekly minutes', richTextPages: [{ id: 'p', name: 'Minutes', content }] }
}

/** The word about what was typed, when it says this. */
export function badge(page: Page, saved: 'saved' | 'saving' | 'local' | 'refused'): Locator {
  return page.locator(`[data-saved=${saved}]${saved === 'saved' ? '[data-link=live]' : ''}`)
}

/** The text of the page on the screen, to type in. */
export function editorOf(page: Page): Locator {
  return page.locator('.ProseMirror')
}
