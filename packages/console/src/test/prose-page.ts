import type { Page } from 'playwright-core'

/** Returns the visible text of the prose page, block by block, without carets of others. */
export function textOf(page: Page): Promise<string> {
  return page.locator('.prose-text').evaluate((text) => {
    const copy = text.cloneNode(true) as HTMLElement
    for (const caret of copy.querySelectorAll('.docrelay-caret')) caret.remove()
    return [...copy.querySelectorAll('p, h1, h2, h3, pre')]
      .map((block) => block.textContent?.replaceAll('\u2060', '') ?? '')
      .join('\n')
  })
}

/** Waits until the page shows that everything is saved. */
export async function saved(page: Page): Promise<void> {
  await page.locator('[data-saved="saved"][data-link="live"]').waitFor()
}

/** Presses a key several times, with a frame after each: the editor learns of a caret moved by the browser in a later task. */
export async function step(page: Page, key: string, times = 1): Promise<void> {
  for (let pressed = 0; pressed < times; pressed++) {
    await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => setTimeout(shown))))
    await page.keyboard.press(key)
  }
  await page.evaluate(() => new Promise((shown) => requestAnimationFrame(() => setTimeout(shown))))
}
