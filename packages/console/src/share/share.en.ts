export const shareTexts = {
  title: 'Shared document',
  opening: 'Opening the document that was shared with you …',
  opened: (name: string) => `You may read “${name}” from now on.`,
  tryAgain: 'Try again',
  toDocuments: 'Your documents',
}
