/** The part of Trusted Types that this file uses. Not every browser has them, and TypeScript has no types for them. */
export interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML: (html: string) => string }): { createHTML(html: string): string }
}

/**
 * Reads HTML of a stored page into elements that belong to no window: scripts do not run, and images are not loaded.
 *
 * The Content-Security-Policy of the page allows text to become HTML only through a named Trusted Types policy. `docrelay-html` is that name.
 * Only this class uses it; a schema reads the resulting elements, and they are never inserted into the page.
 */
export class InertHtml {
  readonly #policy: { createHTML(html: string): string } | null

  constructor({ trustedTypes }: { readonly trustedTypes?: TrustedTypes }) {
    this.#policy = trustedTypes?.createPolicy('docrelay-html', { createHTML: (html) => html }) ?? null
  }

  read(html: string): HTMLElement {
    return new DOMParser().parseFromString(this.#policy?.createHTML(html) ?? html, 'text/html').body
  }
}
