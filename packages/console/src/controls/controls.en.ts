/** Texts of the shared controls. */
export const controlTexts = {
  close: 'Close',
  cancel: 'Cancel',
}
