import type { Locator, Page } from 'playwright-core'

/** Returns a document with one text page. */
export function minutes(content = '<p>Present: Ann</p>') {
  return { name: 'Weekly minutes', richTextPages: [{ id: 'p', name: 'Minutes', content }] }
}

/** Locates the badge of the save state when it shows this state. */
export function badge(page: Page, saved: 'saved' | 'saving' | 'local' | 'refused'): Locator {
  return page.locator(`[data-saved=${saved}]${saved === 'saved' ? '[data-link=live]' : ''}`)
}

/** Locates the editable text of the page on the screen. */
export function editorOf(page: Page): Locator {
  return page.locator('.ProseMirror')
}

/** Returns a document of 3,000 blocks of text and a canvas of 2,000 shapes. */
export function largeDocument() {
  const content = Array.from({ length: 3_000 }, (_, at) => `<p id="blk-${at}">Block ${at} with some words in it.</p>`).join('')
  const shapes = Array.from({ length: 2_000 }, (_, at) => {
    const place = { x: (at % 50) * 200, y: Math.floor(at / 50) * 150, width: 120, height: 60 }
    return { id: `shape-${at}`, type: 'rectangle', label: `Shape ${at}`, ...place }
  })
  return {
    name: 'Minutes',
    richTextPages: [{ id: 'text', name: 'Text', content }],
    pages: [{ id: 'board', name: 'Board', shapes }],
  }
}
