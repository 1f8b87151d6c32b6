// A board, drawn from a Prometheus: `/?board=overview&from=SECONDS&to=SECONDS`.
import React from 'react';
import { createRoot } from 'react-dom/client';
import { ThemeContext } from '@grafana/data';
import { GlobalStyles, PortalContainer } from '@grafana/ui';
import { BOARD, Mark, marks } from './data';
import { theme } from './fields';
import { height, Panel, place, WIDTH } from './panel';

const HEAD = 44;

function Board({ board, marks }: { board: any; marks: Mark[] }) {
  return (
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <div style={{ height: HEAD, width: WIDTH, color: '#ccccdc', fontSize: 19, lineHeight: `${HEAD}px`, paddingLeft: 12, boxSizing: 'border-box' }}>
        {board.title} <span style={{ fontSize: 13, color: '#9fa0a8' }}>{board.description}</span>
      </div>
      <div style={{ position: 'relative', width: WIDTH, height: height(board.panels) }}>
        {board.panels.map((panel: any) =>
          panel.type === 'row' ? (
            <div key={panel.id} style={{ ...place(panel), color: '#ccccdc', fontSize: 15, paddingLeft: 8, lineHeight: '30px' }}>⌄ {panel.title}</div>
          ) : (
            <Panel key={panel.id} panel={panel} marks={marks} />
          )
        )}
      </div>
      <PortalContainer />
    </ThemeContext.Provider>
  );
}

const board = await (await fetch(`/boards/${BOARD}.json`)).json();
const found = await marks(board);
createRoot(document.getElementById('root')!).render(<Board board={board} marks={found} />);
