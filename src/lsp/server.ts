// `strobe lsp`: the language server protocol on standard input and output.
import {
  CodeActionKind,
  CompletionItemKind,
  createConnection,
  DiagnosticSeverity,
  DocumentSymbol,
  MarkupKind,
  LSPErrorCodes,
  ProposedFeatures,
  ResponseError,
  SymbolKind,
  TextDocuments,
  TextDocumentSyncKind,
  type CodeAction,
  type CodeLens,
  type CompletionItem,
  type Diagnostic,
  type Range,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { asInternal } from "../base/internal-error.ts";
import type { Diagnostic as Mistake, Span } from "../language/diagnostic.ts";
import { languages } from "../language/registry.ts";
import { analyse, diagnosticsOf, editedLanguage, type Analysis } from "./analysis.ts";
import { complete, type Completion } from "./completion.ts";
import { definition, outline, type OutlineEntry } from "./definition.ts";
import { fixes } from "./fixes.ts";
import { hover } from "./hover.ts";
import { named, renamed } from "./references.ts";
import { signatures } from "./signatures.ts";
import { spellingOf } from "../providers/registry.ts";

/** Milliseconds without a change before a text is checked: as long as that takes, so that typing is not in its way. */
const quiet = { least: 15, most: 200 };
/** And before code is generated for it, which finds what the checker cannot see, and nobody waits for. */
const settled = 600;

/** Characters that begin names in some language. */
const sigils = [...new Set(languages.flatMap(({ editing }) => (editing?.().sigils ?? "").split("")))];

const completionKinds: Readonly<Record<Completion["kind"], CompletionItemKind>> = {
  probe: CompletionItemKind.Event,
  field: CompletionItemKind.Field,
  value: CompletionItemKind.Constant,
  function: CompletionItemKind.Function,
  variable: CompletionItemKind.Variable,
  map: CompletionItemKind.Variable,
  keyword: CompletionItemKind.Keyword,
  constant: CompletionItemKind.EnumMember,
  type: CompletionItemKind.Struct,
};
const symbolKinds: Readonly<Record<OutlineEntry["kind"], SymbolKind>> = {
  probe: SymbolKind.Event,
  function: SymbolKind.Function,
  struct: SymbolKind.Struct,
  enum: SymbolKind.Enum,
};

/** Serves until the client says `exit`, which ends the process. */
export function serve(): Promise<never> {
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  const documents = new TextDocuments(TextDocument);
  const analyses = new Map<string, { readonly version: number; readonly analysis: Analysis }>();
  const waiting = new Map<string, NodeJS.Timeout>();
  /** What the last check took. */
  let taken = 0;

  const source = (document: TextDocument): Analysis["source"] => ({ name: document.uri, text: document.getText() });
  const analysisOf = (document: TextDocument): Analysis => {
    const known = analyses.get(document.uri);
    if (known?.version === document.version) return known.analysis;
    const from = performance.now();
    const analysis = analyse(source(document));
    taken = performance.now() - from;
    analyses.set(document.uri, { version: document.version, analysis });
    return analysis;
  };
  const range = (document: TextDocument, { start, end }: Span): Range => ({
    start: document.positionAt(start),
    end: document.positionAt(end),
  });
  /** A mistake in strobe must not end the server: the next text will do. */
  const guarded = (work: () => void) => (): void => {
    try {
      work();
    } catch (error) {
      connection.console.error(asInternal(error).stack ?? "");
    }
  };
  const later = ({ uri }: TextDocument, milliseconds: number, work: () => void): void => {
    clearTimeout(waiting.get(uri));
    waiting.set(uri, setTimeout(guarded(work), milliseconds));
  };
  const shown = (document: TextDocument, { severity, code, span, message, help }: Mistake): Diagnostic => ({
    severity: severity === "error" ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    source: "strobe",
    code,
    range: range(document, span),
    message: help === undefined ? message : `${message}\n${help}`,
  });
  const publish = (document: TextDocument, analysis: Analysis): void => {
    const diagnostics = diagnosticsOf(analysis).map((one) => shown(document, one));
    void connection.sendDiagnostics({ uri: document.uri, version: document.version, diagnostics });
  };
  const validate = (document: TextDocument): void => {
    const analysis = analysisOf(document);
    publish(document, analysis);
    if (analysis.stages.checked === undefined) return;
    later(document, settled + taken, () => {
      const whole = analyse(source(document), { whole: true });
      if (whole.diagnostics.length > analysis.diagnostics.length) publish(document, whole);
    });
  };
  /** What a request is about; undefined for a document that is not open. */
  const at = (uri: string): TextDocument | undefined => documents.get(uri);

  /** The client has a command that runs a script: `strobe.run`, with its URI and the line that was pressed. */
  let runs = false;
  connection.onInitialize(({ initializationOptions }) => {
    runs = (initializationOptions as { run?: unknown } | undefined)?.run === true;
    return {
      serverInfo: { name: "strobe" },
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        completionProvider: { triggerCharacters: [":", ".", ">", ...sigils] },
        hoverProvider: true,
        signatureHelpProvider: { triggerCharacters: ["(", ","] },
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        documentFormattingProvider: true,
        documentSymbolProvider: true,
        ...(runs ? { codeLensProvider: {} } : {}),
      },
    };
  });
  documents.onDidChangeContent(({ document }) => {
    later(document, Math.min(Math.max(taken, quiet.least), quiet.most), () => validate(document));
  });
  documents.onDidClose(({ document: { uri } }) => {
    clearTimeout(waiting.get(uri));
    waiting.delete(uri);
    analyses.delete(uri);
    void connection.sendDiagnostics({ uri, diagnostics: [] });
  });
  connection.onCompletion(({ textDocument: { uri }, position }) => {
    const document = at(uri);
    if (document === undefined) return null;
    const { items, incomplete } = complete(source(document), document.offsetAt(position));
    return {
      isIncomplete: incomplete,
      items: items.map(({ label, kind, detail, doc, span }): CompletionItem => ({
        label,
        kind: completionKinds[kind],
        filterText: label,
        textEdit: { range: range(document, span), newText: label },
        ...(detail === undefined ? {} : { detail }),
        ...(doc === undefined ? {} : { documentation: doc }),
      })),
    };
  });
  connection.onHover(({ textDocument: { uri }, position }) => {
    const document = at(uri);
    const found = document && hover(analysisOf(document), document.offsetAt(position));
    return found
      ? { contents: { kind: MarkupKind.Markdown, value: found.markdown }, range: range(document, found.span) }
      : null;
  });
  connection.onSignatureHelp(({ textDocument: { uri }, position }) => {
    const document = at(uri);
    const found = document && signatures(source(document), document.offsetAt(position));
    return found
      ? {
          signatures: found.forms.map(({ label, doc, parameters }) => ({
            label,
            ...(doc === undefined ? {} : { documentation: doc }),
            parameters: parameters.map(({ start, end }) => ({ label: [start, end] as [number, number] })),
            activeParameter: Math.max(0, Math.min(found.argument, parameters.length - 1)),
          })),
          activeSignature: found.active,
          activeParameter: found.argument,
        }
      : null;
  });
  connection.onCodeAction(({ textDocument: { uri }, range: { start, end } }) => {
    const document = at(uri);
    if (document === undefined) return null;
    const asked = { start: document.offsetAt(start), end: document.offsetAt(end) };
    return fixes(analysisOf(document), asked).map(({ mistake, span, text, only }): CodeAction => ({
      title: `Replace it with ${text}`,
      kind: CodeActionKind.QuickFix,
      diagnostics: [shown(document, mistake)],
      isPreferred: only,
      edit: { changes: { [uri]: [{ range: range(document, span), newText: text }] } },
    }));
  });
  connection.onDefinition(({ textDocument: { uri }, position }) => {
    const document = at(uri);
    const span = document && definition(analysisOf(document), document.offsetAt(position));
    return span ? { uri, range: range(document, span) } : null;
  });
  connection.onReferences(({ textDocument: { uri }, position }) => {
    const document = at(uri);
    const found = document && named(analysisOf(document), document.offsetAt(position));
    return found ? found.places.map((span) => ({ uri, range: range(document, span) })) : null;
  });
  connection.onPrepareRename(({ textDocument: { uri }, position }) => {
    const document = at(uri);
    const found = document && named(analysisOf(document), document.offsetAt(position));
    return found ? { range: range(document, found.span), placeholder: found.word } : null;
  });
  connection.onRenameRequest(({ textDocument: { uri }, position, newName }) => {
    const document = at(uri);
    if (document === undefined) return null;
    const edits = renamed(analysisOf(document), document.offsetAt(position), newName);
    if (typeof edits === "string") return new ResponseError(LSPErrorCodes.RequestFailed, edits);
    return { changes: { [uri]: edits.map(({ span, text }) => ({ range: range(document, span), newText: text })) } };
  });
  connection.onDocumentSymbol(({ textDocument: { uri } }) => {
    const document = at(uri);
    return document
      ? outline(analysisOf(document)).map(({ name, kind, span, nameSpan }) =>
          DocumentSymbol.create(name, undefined, symbolKinds[kind], range(document, span), range(document, nameSpan)),
        )
      : null;
  });
  connection.onCodeLens(({ textDocument: { uri } }) => {
    const document = at(uri);
    if (document === undefined || !runs) return null;
    const places = outline(analysisOf(document))
      .filter(({ kind }) => kind === "probe")
      .map(({ nameSpan }) => range(document, nameSpan));
    // A line has one, however many probes.
    return [...new Map(places.map((place) => [place.start.line, place]))].map(([line, place]): CodeLens => ({
      range: place,
      command: { title: "▶ run", command: "strobe.run", arguments: [uri, line] },
    }));
  });
  connection.onDocumentFormatting(({ textDocument: { uri } }) => {
    const document = at(uri);
    if (document === undefined) return null;
    const written = source(document);
    const { text } = editedLanguage(written).format?.(written, spellingOf) ?? {};
    return text === undefined
      ? null
      : [{ range: range(document, { start: 0, end: document.getText().length }), newText: text }];
  });
  documents.listen(connection);
  connection.listen();
  return new Promise<never>(() => {});
}
