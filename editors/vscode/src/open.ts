import * as vscode from "vscode";
import type { Place } from "./results";

/** Show a place in the preview tab; the focus stays where it is if it should. */
export async function openPlace(place: Place, preserveFocus: boolean): Promise<void> {
  const position = new vscode.Position(place.line, place.character);
  await vscode.window.showTextDocument(vscode.Uri.parse(place.uri, true), {
    preview: true,
    preserveFocus,
    selection: new vscode.Range(position, position),
  });
}
